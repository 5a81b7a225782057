"""Plans for tests of what runs do about volumes."""

from strider.engine import Json
from strider.suite.plan import Plan, PlannedCase, Repetitions, SuiteTitle


def plan(*interfaces: dict[str, Json]) -> Plan:
    """A plan with a case for each interface and its options."""
    cases = [
        PlannedCase(
            case=number,
            clients=1,
            interface=interface,
            pattern={"name": "segmented"},
            operations=["write"],
            repetitions=Repetitions(min=1, max=1),
        )
        for number, interface in enumerate(interfaces, 1)
    ]
    return Plan(suite=SuiteTitle(name="s"), target="/t", ranks=1, cases=cases)
