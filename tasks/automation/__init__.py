"""Rules, events and dates: what producers call, and what lanes carry out."""

from tasks.automation.events import (
    AutomationEvent,
    EmitEventResult,
    emit_automation_event,
    emit_booking_event,
    emit_episode_event,
    emit_events,
    emit_guest_event,
)
from tasks.automation.results import UNSET
from tasks.automation.scheduler import (
    CancelResult,
    RescheduleResult,
    ScheduleResult,
    TimeContext,
    cancel_pending_time_based_jobs,
    reschedule_time_based_jobs_for_episode,
    schedule_time_based_jobs,
    schedule_time_based_jobs_for_booking,
    schedule_time_based_jobs_for_episode,
)

__all__ = [
    "UNSET",
    "AutomationEvent",
    "CancelResult",
    "EmitEventResult",
    "RescheduleResult",
    "ScheduleResult",
    "TimeContext",
    "cancel_pending_time_based_jobs",
    "emit_automation_event",
    "emit_booking_event",
    "emit_episode_event",
    "emit_events",
    "emit_guest_event",
    "reschedule_time_based_jobs_for_episode",
    "schedule_time_based_jobs",
    "schedule_time_based_jobs_for_booking",
    "schedule_time_based_jobs_for_episode",
]
