"""The strip of an endpoint's last day, on both databases."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session, sessionmaker

from dashboard.webhooks.health import HOURS, healths
from tasks.models import Delivery, DeliveryState, Endpoint, WebhookMessage, new_id
from tests.support import factories
from tests.support.factories import NOW


def test_each_hour_says_how_it_went(make_session: sessionmaker[Session]) -> None:
    with make_session.begin() as session:
        of: dict[str, Any] = {"congregation_id": factories.congregation(session)}
        endpoint, silent = (
            Endpoint(
                **of, id=new_id(), url="", secret="", secret_hint="", created_by=""
            )
            for _ in range(2)
        )
        session.add_all([endpoint, silent])
        session.flush()
        for hours, state in (
            (0, "delivered"),
            (1, "failed"),
            (1, "delivered"),
            (30, "failed"),
        ):
            at = NOW - timedelta(hours=hours) + timedelta(minutes=5)
            message = WebhookMessage(**of, id=new_id(at), type="x", body="{}")
            session.add(message)
            session.flush()
            session.add(
                Delivery(
                    **of,
                    id=new_id(at),
                    endpoint_id=endpoint.id,
                    message_id=message.id,
                    type="x",
                    state=DeliveryState(state),
                    run_at=at,
                    created_at=at,
                )
            )
        session.flush()
        found = healths(session, [endpoint.id, silent.id], NOW + timedelta(minutes=30))
    health = found[endpoint.id]
    assert len(health.hours) == HOURS
    assert [hour.tone for hour in health.hours[-3:]] == ["quiet", "bad", "good"]
    assert health.hours[-2].words == "11:00 UTC: 1 delivered, 1 failed"
    assert (health.total, health.n("delivered"), health.n("failed")) == (3, 2, 1)
    assert found[silent.id].total == 0
