"""What a key of a `[[case]]` means, given the interfaces and patterns of that case."""

from collections.abc import Iterator

from strider.engine import Json, Parameter
from strider.suite.mistakes import unknown
from strider.suite.values import show
from strider.suite.vocabulary import SUITE_PARAMETERS, Selection, Vocabulary


def resolve(key: str, used: Selection, vocabulary: Vocabulary) -> Parameter:
    """The parameter that a key such as `transfer` or `posix.direct` means.

    Raises:
        ValueError: It means nothing in this case; the message says why and what would be right.
    """
    owner, dot, option = key.partition(".")
    if dot and owner in vocabulary.interfaces:
        return _option(owner, option, used, vocabulary)
    # Where the pattern itself is a mistake, its parameters are not held against the user as well.
    patterns = list(vocabulary.patterns) if used.doubtful else used.patterns
    of_patterns = (vocabulary.pattern_parameter(pattern, key) for pattern in patterns)
    found = vocabulary.common.get(key) or next((parameter for parameter in of_patterns if parameter), None)
    if found is None:
        raise ValueError(_unknown_key(key, used, vocabulary))
    return found


def missing(keys: set[str], used: Selection, vocabulary: Vocabulary) -> Iterator[str]:
    """A message for the interface, the pattern and each required parameter that a case lacks.

    Args:
        keys: The keys that the case has.
        used: Its interfaces and patterns.
        vocabulary: What they require.
    """
    for key, example in (("interface", "posix"), ("pattern", "segmented")):
        if key not in keys:
            yield f'the case has no {key}: add {key} = "{example}"'
    for pattern in used.patterns:
        for parameter in vocabulary.patterns[pattern].parameters:
            if parameter.required and parameter.name not in keys:
                example = show(_example(parameter))
                yield f'pattern {pattern} needs "{parameter.name}": add {parameter.name} = {example}'


def _option(interface: str, option: str, used: Selection, vocabulary: Vocabulary) -> Parameter:
    if interface not in used.interfaces and not used.doubtful:
        raise ValueError(
            f'"{interface}.{option}" does not apply: the interface here is {", ".join(used.interfaces)}; '
            f'add "{interface}" to it or remove the key'
        )
    found = vocabulary.option(interface, option)
    if found is None:
        options = [parameter.name for parameter in vocabulary.interfaces[interface].parameters]
        raise ValueError(unknown(f"option of {interface}", option, options))
    return found


def _unknown_key(key: str, used: Selection, vocabulary: Vocabulary) -> str:
    patterns = vocabulary.patterns_with(key)
    interfaces = vocabulary.interfaces_with(key)
    if patterns:
        names = ", ".join(used.patterns)
        return f'"{key}" does not apply to pattern {names}: it belongs to {", ".join(patterns)}'
    if key in SUITE_PARAMETERS:
        return f'"{key}" belongs in [suite], not in [[case]]'
    if interfaces:
        return f'unknown key "{key}": did you mean {" or ".join(f"{name}.{key}" for name in interfaces)}?'
    return unknown("key", key, vocabulary.case_keys())


def _example(parameter: Parameter) -> Json:
    """A value that shows how the parameter is written."""
    examples: dict[str, Json] = {
        "bytes": "1MiB",
        "count": 16,
        "seconds": "30s",
        "flag": True,
        "numbers": [2048, 2048],
        "levels": [[16, "1MiB"], [8, "64KiB"]],
    }
    return examples.get(parameter.kind, parameter.choices[0] if parameter.choices else "…")
