"""Descriptions of keys in messages and in the form."""

from strider.engine import Description
from strider.suite.keys import example_of


def test_the_example_of_a_choice_is_the_first_one(description: Description) -> None:
    choices = [
        parameter
        for interface in description.interfaces
        for parameter in interface.parameters
        if parameter.kind == "choice"
    ]
    assert choices
    for parameter in choices:
        assert example_of(parameter) == parameter.choices[0]
