"""Whether a refusal says that there is nobody at the address, for good.

Only then may nobody write to it again by themselves, so it must be beyond doubt.  A
bare 550 is not: it stands for "mailbox not found, no access, or command rejected for
policy reasons" (RFC 5321, 4.2.3).  The enhanced status code tells those apart; of
RFC 3463, 3.2, and RFC 7505 these are about the recipient and "only useful for
permanent failures":

- 5.1.1: the part left of the @ is no mailbox there.
- 5.1.2: the part right of it is no system, or none that takes mail.
- 5.1.6: there was a mailbox; it has moved, nobody says where to.
- 5.1.10: the domain says that it takes no mail (RFC 7505); Exchange says so of
  mailboxes that it does not know.

All others are about something else: 5.1.7 and 5.1.8 about us as sender, 5.2.1 and
5.2.2 about a mailbox that is switched off or full and may come back, 5.4 about the
network, 5.7 about a policy, which is about us as well.  A wrong syntax (5.1.3) is what
one server makes of an address that another one may take.
"""

from __future__ import annotations

import re
from typing import Final

from tasks.outbound.smtp import Refused

_NOBODY: Final = frozenset({"5.1.1", "5.1.2", "5.1.6", "5.1.10"})
#: Where a mail has one recipient, a server may also find out at its end.
_COMMANDS: Final = frozenset({"RCPT", "."})
#: The code comes first in the text (RFC 2034, 4).
_CODE: Final = re.compile(r"\d\.\d{1,3}\.\d{1,3}(?!\S)")


def is_nobody_there(refused: Refused) -> bool:
    """Whether the one recipient of a mail does not exist, by the server's own word."""
    if refused.command not in _COMMANDS or not refused.reply.is_final:
        return False
    code = _CODE.match(refused.reply.text)
    return code is not None and code.group() in _NOBODY
