"""Hosts of a run: names, host files, and the ranks on each."""

from pathlib import Path

import pytest

from strider.errors import StriderError
from strider.launch.launchers import Places, places_of
from strider.launch.launchers.hosts import Host, hosts_in


def counts(places: Places, ranks: int) -> list[tuple[str, int]]:
    mapping = places.mapping(ranks)
    return list(zip(mapping.names, mapping.counts, strict=True))


def test_hosts_are_names_or_addresses_with_or_without_a_number_of_ranks() -> None:
    assert places_of("n1, n2.site.org:4,10.0.0.1:2,::1,[fe80::1]:3").hosts == (
        Host("n1"),
        Host("n2.site.org", 4),
        Host("10.0.0.1", 2),
        Host("::1"),
        Host("fe80::1", 3),
    )


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("-oProxyCommand=touch", "begins with none of - and dot"),
        ("a;reboot", "letters, digits"),
        ("$(id)", "letters, digits"),
        ("a b", "letters, digits"),
        ("", "it is empty"),
        ("n1:", "no number after the colon"),
        ("n1:0", "must be from 1 to"),
        ("n1:x", "must be from 1 to"),
        ("n1:9999999", "must be from 1 to"),
        ("n[1-4]", "scontrol show hostnames"),
        ("root@n1", "~/.ssh/config"),
        ("999.0.0.1", "no address"),
        ("fe80::x", "no address"),
        ("::1%;id", "no address"),
        ("a" * 64, "letters, digits"),
        (".".join(["a" * 60] * 5), "at most 253"),
        ("[::1]x", "is no host"),
        ("a\u0430", "letters, digits"),
    ],
)
def test_what_is_no_host_is_refused_with_its_place_and_a_remedy(word: str, reason: str) -> None:
    with pytest.raises(StriderError) as caught:
        places_of(f"n9,{word}")
    assert caught.value.message.startswith("--hosts n9,")
    assert reason in caught.value.message


def test_a_host_file_has_the_forms_of_mpich_and_of_open_mpi(tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    file.write_text("# nodes\nn1\n\nn2:4   # large\nn3 slots=2 max_slots=8\n")
    assert hosts_in(file) == (Host("n1"), Host("n2", 4), Host("n3", 2))
    assert places_of(hostfile=file).hosts == hosts_in(file)


def test_a_repeated_host_has_the_sum_of_its_slots_as_in_the_node_file_of_pbs(tmp_path: Path) -> None:
    file = tmp_path / "nodes"
    file.write_text("n1\nn1\nn2\nn2\nn2\n")
    assert hosts_in(file) == (Host("n1", 2), Host("n2", 3))


@pytest.mark.parametrize("line", ["n2 slots=0", "n2 slots=many", "n2 ppn=4", "-n2", "n2:4 slots=2"])
def test_a_wrong_line_is_named_with_file_and_number(tmp_path: Path, line: str) -> None:
    file = tmp_path / "hosts"
    file.write_text(f"n1\n{line}\n")
    with pytest.raises(StriderError, match=f"^{file}:2: ") as caught:
        hosts_in(file)
    assert line.split()[-1] in caught.value.message


def test_a_file_without_hosts_and_one_that_is_missing_are_named(tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    with pytest.raises(StriderError, match=f"{file}: No such file"):
        hosts_in(file)
    file.write_text("# none\n")
    with pytest.raises(StriderError, match=f"{file}: names no host"):
        hosts_in(file)


def test_ranks_are_in_even_blocks_unless_hosts_have_slots() -> None:
    assert counts(places_of("a,b,c"), 8) == [("a", 3), ("b", 3), ("c", 2)]
    assert counts(places_of("a:4,b:1,c:3"), 8) == [("a", 4), ("b", 1), ("c", 3)]
    assert counts(places_of("a:4,b:4", per_node=2), 3) == [("a", 2), ("b", 1)]
    assert counts(places_of("a,b,c", nodes=2), 4) == [("a", 2), ("b", 2)]
    assert counts(places_of("a,b,c,d"), 6) == [("a", 2), ("b", 2), ("c", 1), ("d", 1)]
    assert counts(places_of("a,b,c"), 2) == [("a", 1), ("b", 1)]


def test_nodes_and_ranks_per_node_determine_the_ranks() -> None:
    places = places_of(nodes=4, per_node=8)
    assert places.ranks == 32
    assert (places.mapping(32).nodes, places.mapping(32).per_node) == (4, 8)
    assert places_of(nodes=4).ranks is None
    assert places_of(nodes=4).mapping(12).per_node == 3
    assert places_of(per_node=4).mapping(10).nodes == 3


def test_ranks_that_do_not_fit_are_refused() -> None:
    with pytest.raises(StriderError, match="9 ranks do not fit: the 2 hosts have places for 5"):
        places_of("a:4,b").mapping(9)
    with pytest.raises(StriderError, match="--nodes 2 --per-node 3 have places for 6"):
        places_of(nodes=2, per_node=3).mapping(7)


def test_nodes_that_ranks_would_leave_empty_are_refused_except_for_a_probe() -> None:
    with pytest.raises(StriderError, match="are on 3 nodes instead of 4: choose a multiple of 4 for -n"):
        places_of(nodes=4).mapping(6)
    assert Places(nodes=4, is_exact=False).mapping(6).nodes == 3


def test_a_number_of_ranks_that_contradicts_nodes_is_refused_except_for_a_probe() -> None:
    with pytest.raises(StriderError, match="has 8 ranks, but --nodes 2 --per-node 3 have 6"):
        places_of(nodes=2, per_node=3).require_all_used(8)
    with pytest.raises(StriderError, match="2 ranks cannot be on 4 nodes"):
        places_of(nodes=4).require_all_used(2)
    Places(nodes=2, per_node=3, is_exact=False).require_all_used(1)


def test_options_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StriderError, match="leave one out"):
        places_of("a", tmp_path / "hosts")
    with pytest.raises(StriderError, match="--nodes 3: 2 hosts are named"):
        places_of("a,b", nodes=3)


def test_places_are_kept_for_the_next_start_of_a_run() -> None:
    places = places_of("a,b:4", nodes=2, per_node=4)
    assert Places.from_json(places.to_json()) == places


@pytest.mark.parametrize(
    "changes",
    [
        {"hosts": [{"name": "-oProxyCommand=touch", "slots": 1}]},
        {"hosts": [{"name": "n1", "slots": "1 --me"}]},
        {"hosts": [{"name": "n1", "slots": 0}]},
        {"hosts": ["n1"]},
        {"hosts": 1},
        {"nodes": "2; reboot"},
        {"per_node": True},
    ],
)
def test_kept_places_that_the_command_line_refuses_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(StriderError, match=r"^the places in run\.json"):
        Places.from_json({"hosts": [], "nodes": None, "per_node": None} | changes)


def test_one_process_on_each_node_uses_the_nodes_of_the_ranks() -> None:
    mapping = places_of("a,b,c").each_once(2)
    assert (mapping.ranks, mapping.names, mapping.counts) == (2, ["a", "b"], [1, 1])
    assert places_of(nodes=4).each_once(8).ranks == 4
