"""Resolves the keys of a `[[case]]` for its interfaces and patterns or trees."""

from collections.abc import Iterator

from strider.engine import Json, Parameter
from strider.suite.mistakes import unknown
from strider.suite.values import show
from strider.suite.vocabulary import SHAPE_KEYS, SUITE_PARAMETERS, Selection, Vocabulary


def resolve(key: str, used: Selection, vocabulary: Vocabulary) -> Parameter:
    """Returns the parameter of a key such as `transfer` or `posix.direct`.

    Raises:
        ValueError: It is invalid in this case; the message has the reason and a remedy.
    """
    owner, dot, option = key.partition(".")
    if dot and owner in vocabulary.interfaces:
        return _option(owner, option, used, vocabulary)
    # Where the pattern or tree itself is a mistake, its parameters are not held against the user as well.
    workloads = vocabulary.workloads if used.doubtful else (used.workload,)
    for workload in workloads:
        shapes = list(workload.shapes) if used.doubtful else used.shapes
        of_shapes = (workload.shape_parameter(shape, key) for shape in shapes)
        found = workload.common.get(key) or next((parameter for parameter in of_shapes if parameter), None)
        if found is not None:
            return found
    raise ValueError(_unknown_key(key, used, vocabulary))


def missing(keys: set[str], used: Selection, vocabulary: Vocabulary) -> Iterator[str]:
    """A message for the interface, the pattern or tree and each required parameter that a case lacks.

    Args:
        keys: The keys that the case has.
        used: Its interfaces and its patterns or trees.
        vocabulary: What there is.
    """
    if "interface" not in keys:
        yield 'the case has no interface: add interface = "posix"'
    if not keys & set(SHAPE_KEYS):
        yield f"the case has no pattern: add {_shape_examples(vocabulary)}"
    workload = used.workload
    required = [(workload.key, shape, workload.shapes[shape].parameters) for shape in used.shapes]
    common = [parameter for parameter in workload.common.values() if not used.doubtful]
    for what, name, parameters in [*required, ("a case of", workload.noun, common)]:
        for parameter in parameters:
            if parameter.required and parameter.name not in keys:
                example = show(example_of(parameter))
                yield f'{what} {name} needs "{parameter.name}": add {parameter.name} = {example}'


def _shape_examples(vocabulary: Vocabulary) -> str:
    """`pattern = "segmented"`, and for metadata `tree = "balanced"` where the engine has trees."""
    trees = list(vocabulary.metadata.shapes)
    return 'pattern = "segmented"' + (f', or tree = "{trees[0]}" for metadata' if trees else "")


def _option(interface: str, option: str, used: Selection, vocabulary: Vocabulary) -> Parameter:
    if interface not in used.interfaces and not used.doubtful:
        raise ValueError(
            f'"{interface}.{option}" does not apply to interface {", ".join(used.interfaces)}: add '
            f'interface "{interface}" or remove the key'
        )
    found = vocabulary.option(interface, option)
    if found is None:
        options = [parameter.name for parameter in vocabulary.interfaces[interface].parameters]
        raise ValueError(unknown(f"option of {interface}", option, options))
    return found


def _unknown_key(key: str, used: Selection, vocabulary: Vocabulary) -> str:
    owners = [
        (workload.key, shapes) for workload in vocabulary.workloads if (shapes := workload.shapes_with(key))
    ]
    common = [workload for workload in vocabulary.workloads if key in workload.common]
    interfaces = vocabulary.interfaces_with(key)
    if owners:
        own, names = used.workload.key, ", ".join(used.shapes)
        # The word is repeated only if it is another one: a pattern's key in a case with a tree.
        of = [f"{word} {', '.join(shapes)}" if word != own else ", ".join(shapes) for word, shapes in owners]
        wrong = f'"{key}" does not apply to {own} {names}: it belongs to {" and ".join(of)}'
        return "; ".join([wrong, *_taken(used)])
    if common:
        other = common[0]
        return (
            f'"{key}" does not apply to a {used.workload.noun} case: it is a key of {other.noun} cases, '
            f"which have a {other.key}"
        )
    if key in SUITE_PARAMETERS:
        return f'"{key}" belongs in [suite], not in [[case]]'
    if interfaces:
        return f'unknown key "{key}": did you mean {" or ".join(f"{name}.{key}" for name in interfaces)}?'
    return unknown("key", key, vocabulary.case_keys())


def _taken(used: Selection) -> Iterator[str]:
    """Returns the parameters of each pattern or tree of a case."""
    for shape in used.shapes:
        keys = [parameter.name for parameter in used.workload.shapes[shape].parameters]
        yield f"{shape} takes {', '.join(keys)}" if keys else f"{shape} takes none"


def example_of(parameter: Parameter) -> Json:
    """Returns an example value of a parameter."""
    if parameter.kind == "url":
        return f"{parameter.choices[0]}://SERVER"
    examples: dict[str, Json] = {
        "bytes": "1MiB",
        "count": 16,
        "seconds": "30s",
        "flag": True,
        "numbers": [2048, 2048],
        "levels": [[16, "1MiB"], [8, "64KiB"]],
        "operations": ["create", "stat", "unlink"],
        "weights": {"stat": 60, "create": 20, "unlink": 20},
    }
    return examples.get(parameter.kind, parameter.choices[0] if parameter.choices else "…")
