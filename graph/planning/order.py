"""The order of steps by their dependencies, and the waves of steps that are independent of each other."""

from collections.abc import Mapping, Sequence

Needs = Mapping[str, Sequence[str]]
"""By the key of each step, in the order they were given: the keys of those that have to be completed before it."""


def problems_of_order(keys: Sequence[str], needs: Needs) -> list[str]:
    """Return what makes the steps impossible to order: keys that are used twice or unknown, and circles."""
    twice = sorted({key for key in keys if keys.count(key) > 1})
    found = [f"two steps have the id {key}" for key in twice]
    for key, after in needs.items():
        found += [f"step {key} depends on {other}, which is no step" for other in after if other not in needs]
    circle = sorted(set(needs) - set(topological_order(needs)))
    if not found and circle:
        found.append(f"the steps {', '.join(circle)} depend on one another in a circle")
    return found


def topological_order(needs: Needs) -> list[str]:
    """Return the keys so that each comes after what it needs, else as given; those in circles are left out."""
    done: list[str] = []
    while True:
        following = next((key for key in needs if key not in done and all(one in done for one in needs[key])), None)
        if following is None:
            return done
        done.append(following)


def waves(needs: Needs) -> dict[str, int]:
    """Return for each key, from 1, the round it could be done in if all that don't need one another went together."""
    numbers: dict[str, int] = {}
    for key in topological_order(needs):
        numbers[key] = 1 + max((numbers[one] for one in needs[key]), default=0)
    return numbers


def dependents(needs: Needs, key: str) -> set[str]:
    """Return everything that needs the key, directly or through others."""
    found: set[str] = set()
    grown = {key}
    while grown:
        grown = {one for one, after in needs.items() if one not in found and grown & set(after)}
        found |= grown
    return found
