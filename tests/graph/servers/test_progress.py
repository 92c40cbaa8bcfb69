"""What a person sees of a call that takes its time: samples of what its server reports."""

from graph.servers.connections.in_flight import MAX_REPORT_CHARACTERS, ProgressReports

HOUR = 3600


class Reports:
    """Collects what is reported; its time is `now`."""

    def __init__(self) -> None:
        self.now = 0.0
        self.seen: list[tuple[float, float | None, str | None]] = []
        self.times: list[float] = []

    async def report(self, progress: float, total: float | None, message: str | None) -> None:
        """Take one."""
        self.seen.append((progress, total, message))
        self.times.append(self.now)

    def clock(self) -> float:
        """Return the time in seconds."""
        return self.now


async def test_a_flood_of_reports_is_sampled_and_a_long_one_ever_less_often() -> None:
    reports = Reports()
    call = ProgressReports(reports.report, reports.clock)
    for number in range(HOUR * 20):
        reports.now = number / 20
        await call(number, None, "still here")
    in_a_minute = [time for time in reports.times if time < 60]
    assert 50 < len(in_a_minute) < 120
    assert len(reports.times) < 1000
    assert max(later - earlier for earlier, later in zip(reports.times, reports.times[1:], strict=False)) < 10


async def test_messages_of_the_log_come_with_the_progress_cleaned_and_cut() -> None:
    reports = Reports()
    call = ProgressReports(reports.report, reports.clock)
    await call(1, 4, None)
    reports.now = 1
    await call.log("Step\u202e two\u200b " + "x" * 1000)
    assert reports.seen[0] == (1, 4, None)
    assert reports.seen[1][:2] == (1, 4)
    assert reports.seen[1][2] == ("Step two " + "x" * 1000)[:MAX_REPORT_CHARACTERS]
