"""Every table of the engine.  Import the nouns from here."""

from tasks.models.access import ApiToken, AuditEntry, IdempotencyRecord
from tasks.models.address import Address, AddressArea, Sync, SyncKind
from tasks.models.admin_mail import AdminMail, AdminMailState
from tasks.models.base import Base, OfCongregation, UtcDateTime, new_id
from tasks.models.booking import Booking, BookingStatus
from tasks.models.budget import LaneBudget, RuleBudget
from tasks.models.campaign import (
    Campaign,
    CampaignState,
    CampaignTerritory,
    EndAction,
    StartAction,
)
from tasks.models.congregation import Congregation
from tasks.models.contact import Contact, ContactImport, ContactSource
from tasks.models.contact_list import ContactDraft, ContactImportLines
from tasks.models.daily import DailyRun
from tasks.models.delivery import (
    Delivery,
    DeliveryAttempt,
    DeliveryState,
    WebhookMessage,
)
from tasks.models.document import (
    BoardSection,
    Document,
    DocumentVersion,
    LooseFile,
    StoredFile,
    ThumbnailReason,
    ThumbnailState,
)
from tasks.models.edit import ExecutionEdit
from tasks.models.endpoint import Endpoint, EndpointEnd
from tasks.models.engagement import (
    Agent,
    Direction,
    Engagement,
    EngagementMessage,
    PassedBecause,
    WaitsFor,
    WakeState,
)
from tasks.models.episode import Episode, EpisodeGuest, EpisodeStatus
from tasks.models.erasure import BlockReason, Erased, Erasure, RetentionBlock
from tasks.models.event import Decision, DecisionOutcome, Event, EventData
from tasks.models.execution import (
    Attempt,
    AttemptOutcome,
    Execution,
    ExecutionContext,
    ExecutionMessage,
    ExecutionState,
)
from tasks.models.failure import (
    FailedDelivery,
    FailedExecution,
    FailureGroup,
    FailureHour,
)
from tasks.models.feed import Feed, FeedItem, GuestImport
from tasks.models.hold import Channel, Hold, HoldKind
from tasks.models.lane import (
    LaneHeartbeat,
    LaneRun,
    LaneSetting,
    LaneTrigger,
    WorkerProcess,
    WorkerState,
)
from tasks.models.long_job import LongJobState
from tasks.models.member import (
    Account,
    AccountDuty,
    AccountToken,
    Consent,
    Duty,
    EmergencyContact,
    Gender,
    Group,
    GroupMember,
    Member,
    TokenPurpose,
)
from tasks.models.notification import (
    Digest,
    DigestItem,
    DigestMail,
    MailState,
    Notification,
    NotificationPreference,
    NotificationState,
)
from tasks.models.operation import (
    Operation,
    OperationKind,
    OperationState,
    Replay,
)
from tasks.models.outbox import OutboxEntry
from tasks.models.outreach_campaign import OutreachCampaign, OutreachTally
from tasks.models.podcast import BookingLink, Podcast
from tasks.models.rate import RateSlot
from tasks.models.reason import SENTENCES, Reason
from tasks.models.replan import Replan
from tasks.models.rollup import (
    BOUNDS,
    CongregationRollup,
    Ended,
    EndedKind,
    LaneRollup,
    Measure,
    RuleRollup,
    Span,
)
from tasks.models.rule import (
    LatePolicy,
    OffsetUnit,
    QuietPolicy,
    Rule,
    RulePodcast,
    RuleVersion,
)
from tasks.models.saved_view import SavedView, ViewWarning
from tasks.models.scheduled_job import JobContext, JobState, ScheduledJob
from tasks.models.source import (
    CallOutcome,
    ExternalBooking,
    Source,
    SourceCall,
    SourceKind,
)
from tasks.models.suppression import STOPS_EVERYTHING, Suppression, SuppressionReason
from tasks.models.territory import Attribution, Method, Territory, TerritoryKind
from tasks.models.transfer import ExternalRef, Transfer, TransferKind
from tasks.models.volume import RuleVolume, VolumeLimit, VolumeLook

__all__ = [
    "BOUNDS",
    "SENTENCES",
    "STOPS_EVERYTHING",
    "Account",
    "AccountDuty",
    "AccountToken",
    "Address",
    "AddressArea",
    "AdminMail",
    "AdminMailState",
    "Agent",
    "ApiToken",
    "Attempt",
    "AttemptOutcome",
    "Attribution",
    "AuditEntry",
    "Base",
    "BlockReason",
    "BoardSection",
    "Booking",
    "BookingLink",
    "BookingStatus",
    "CallOutcome",
    "Campaign",
    "CampaignState",
    "CampaignTerritory",
    "Channel",
    "Congregation",
    "CongregationRollup",
    "Consent",
    "Contact",
    "ContactDraft",
    "ContactImport",
    "ContactImportLines",
    "ContactSource",
    "DailyRun",
    "Decision",
    "DecisionOutcome",
    "Delivery",
    "DeliveryAttempt",
    "DeliveryState",
    "Digest",
    "DigestItem",
    "DigestMail",
    "Direction",
    "Document",
    "DocumentVersion",
    "Duty",
    "EmergencyContact",
    "EndAction",
    "Ended",
    "EndedKind",
    "Endpoint",
    "EndpointEnd",
    "Engagement",
    "EngagementMessage",
    "Episode",
    "EpisodeGuest",
    "EpisodeStatus",
    "Erased",
    "Erasure",
    "Event",
    "EventData",
    "Execution",
    "ExecutionContext",
    "ExecutionEdit",
    "ExecutionMessage",
    "ExecutionState",
    "ExternalBooking",
    "ExternalRef",
    "FailedDelivery",
    "FailedExecution",
    "FailureGroup",
    "FailureHour",
    "Feed",
    "FeedItem",
    "Gender",
    "Group",
    "GroupMember",
    "GuestImport",
    "Hold",
    "HoldKind",
    "IdempotencyRecord",
    "JobContext",
    "JobState",
    "LaneBudget",
    "LaneHeartbeat",
    "LaneRollup",
    "LaneRun",
    "LaneSetting",
    "LaneTrigger",
    "LatePolicy",
    "LongJobState",
    "LooseFile",
    "MailState",
    "Measure",
    "Member",
    "Method",
    "Notification",
    "NotificationPreference",
    "NotificationState",
    "OfCongregation",
    "OffsetUnit",
    "Operation",
    "OperationKind",
    "OperationState",
    "OutboxEntry",
    "OutreachCampaign",
    "OutreachTally",
    "PassedBecause",
    "Podcast",
    "QuietPolicy",
    "RateSlot",
    "Reason",
    "Replan",
    "Replay",
    "RetentionBlock",
    "Rule",
    "RuleBudget",
    "RulePodcast",
    "RuleRollup",
    "RuleVersion",
    "RuleVolume",
    "SavedView",
    "ScheduledJob",
    "Source",
    "SourceCall",
    "SourceKind",
    "Span",
    "StartAction",
    "StoredFile",
    "Suppression",
    "SuppressionReason",
    "Sync",
    "SyncKind",
    "Territory",
    "TerritoryKind",
    "ThumbnailReason",
    "ThumbnailState",
    "TokenPurpose",
    "Transfer",
    "TransferKind",
    "UtcDateTime",
    "ViewWarning",
    "VolumeLimit",
    "VolumeLook",
    "WaitsFor",
    "WakeState",
    "WebhookMessage",
    "WorkerProcess",
    "WorkerState",
    "new_id",
]
