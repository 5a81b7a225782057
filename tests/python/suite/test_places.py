"""Names in a suite from the page: places below allowed directories, and listed ones."""

import os
from pathlib import Path

import pytest

from strider.engine import Engine
from strider.errors import StriderError
from strider.suite import Changes, check
from strider.suite.document import parse
from strider.suite.load import build
from strider.suite.mistakes import SuiteError
from strider.suite.places import PLACES, Named, Policy, listed, objection
from strider.suite.vocabulary import MOST_RANKS, Vocabulary


@pytest.fixture(scope="module")
def vocabulary(engine: Engine) -> Vocabulary:
    return Vocabulary.of(engine.description)


def policy(vocabulary: Vocabulary, *directories: Path, **places: str) -> Policy:
    listed = frozenset((key.replace("_", "."), value) for key, value in places.items())
    return Policy(tuple(path.resolve() for path in directories), listed, vocabulary)


def judged(text: str, engine: Engine, rules: Policy) -> str:
    """The message on a case; empty if there is none."""
    whole = f'[suite]\nname = "s"\ntarget = "/data"\n[[case]]\n{text}\n'
    try:
        check(build(parse(whole, "s.toml"), engine.description, Changes()), engine, rules)
    except SuiteError as error:
        return error.message
    return ""


def of_list(file: Path | str) -> str:
    return f'interface = "posix"\npattern = "list"\nfile = "{file}"'


def write_list(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("rank,request,file_offset,length\n0,0,0,4096\n", encoding="utf-8")
    return file


# --- files


def test_a_file_below_an_allowed_directory_may_be_named(
    engine: Engine, vocabulary: Vocabulary, tmp_path: Path
) -> None:
    file = write_list(tmp_path / "allowed" / "list.csv")
    assert judged(of_list(file), engine, policy(vocabulary, tmp_path / "allowed")) == ""


@pytest.mark.parametrize("way", ["beside", "above", "through a link", "a longer name"])
def test_a_file_elsewhere_is_refused_before_the_engine_opens_it(
    engine: Engine, vocabulary: Vocabulary, tmp_path: Path, way: str
) -> None:
    outside = tmp_path / "allowed-not" / "secret"
    outside.parent.mkdir()
    outside.write_text("root:secret:0\n", encoding="utf-8")
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (allowed / "link").symlink_to(outside)
    names: dict[str, Path | str] = {
        "beside": outside,
        "above": f"{allowed}/../allowed-not/secret",
        "through a link": allowed / "link",
        "a longer name": f"{allowed}-not/secret",
    }
    said = judged(of_list(names[way]), engine, policy(vocabulary, allowed))
    assert said.startswith("s.toml:7: file: ")
    assert f"is outside the permitted directories: choose one in {allowed}" in said
    assert "--allow-place file=" in said
    assert "secret:0" not in said


def test_a_file_that_is_listed_may_be_named(engine: Engine, vocabulary: Vocabulary, tmp_path: Path) -> None:
    file = write_list(tmp_path / "lists" / "list.csv")
    (tmp_path / "allowed").mkdir()
    assert judged(of_list(file), engine, policy(vocabulary, tmp_path / "allowed", file=str(file))) == ""


def test_on_the_command_line_any_file_may_be_named(engine: Engine, tmp_path: Path) -> None:
    file = write_list(tmp_path / "lists" / "list.csv")
    whole = f'[suite]\nname = "s"\ntarget = "/data"\n[[case]]\n{of_list(file)}\n'
    assert check(build(parse(whole, "s.toml"), engine.description, Changes()), engine).cases


@pytest.mark.parametrize("kind", ["/dev/zero", "fifo", "directory"])
def test_what_is_no_regular_file_is_refused_at_once(engine: Engine, tmp_path: Path, kind: str) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "directory").mkdir()
    whole = f'[suite]\nname = "s"\ntarget = "/data"\n[[case]]\n{of_list(tmp_path / kind)}\n'
    with pytest.raises(SuiteError, match=r"s.toml:7: .* is a (device|FIFO|directory)"):
        check(build(parse(whole, "s.toml"), engine.description, Changes()), engine)


# --- parameters that are no files


def named(kind: str, value: str, key: str = "x.y") -> Named:
    return Named(key, key, kind, value)


@pytest.mark.parametrize("kind", sorted(set(PLACES) - {"file", "config", "directory"}))
def test_hosts_and_the_like_are_refused_unless_they_are_listed(
    vocabulary: Vocabulary, tmp_path: Path, kind: str
) -> None:
    assert "is not permitted on this page" in objection(named(kind, "io1"), policy(vocabulary, tmp_path))
    assert objection(named(kind, "io1"), policy(vocabulary, tmp_path, x_y="io1")) == ""
    assert objection(named(kind, "io2"), policy(vocabulary, tmp_path, x_y="io1"))
    assert objection(named(kind, "io1", "x.z"), policy(vocabulary, tmp_path, x_y="io1"))


def test_a_file_that_names_servers_counts_only_if_no_other_user_can_write_it(
    vocabulary: Vocabulary, tmp_path: Path
) -> None:
    file = tmp_path / "ceph.conf"
    file.touch(0o600)
    rules = policy(vocabulary, tmp_path)
    assert objection(named("config", str(file)), rules) == ""
    file.chmod(0o666)
    assert "belongs to another user" in objection(named("config", str(file)), rules)
    assert objection(named("file", str(file)), rules) == ""
    if os.geteuid() == 0:
        file.chmod(0o600)
        os.chown(file, 65534, 65534)
        assert "belongs to another user" in objection(named("config", str(file)), rules)


@pytest.mark.parametrize(
    ("hint", "judgement"),
    [
        ('romio_cb_write = "enable"', ""),
        ('cb_config_list = "*:1"', ""),
        ('e10_cache_path = "/elsewhere"', "mpiio.hints.e10_cache_path"),
        ('e10_cache_path = "elsewhere"', "mpiio.hints.e10_cache_path"),
        ('nc_burst_buf_dirname = "elsewhere"', "mpiio.hints.nc_burst_buf_dirname"),
        ('anything = "/elsewhere"', "mpiio.hints.anything"),
    ],
)
def test_hints_that_name_paths_are_places(
    engine: Engine, vocabulary: Vocabulary, tmp_path: Path, hint: str, judgement: str
) -> None:
    text = f'interface = "mpiio"\npattern = "segmented"\nmpiio.hints = {{ {hint} }}'
    assert judgement in judged(text, engine, policy(vocabulary, tmp_path))


def test_what_is_listed_has_a_key_that_names_a_place(vocabulary: Vocabulary) -> None:
    assert listed(["file=/a=b", "mpiio.hints.e10_cache_path=/x"], vocabulary) == {
        ("file", "/a=b"),
        ("mpiio.hints.e10_cache_path", "/x"),
    }
    for text in ("file", "file=", "=x", "transfer=1", "posix.direct=true"):
        with pytest.raises(StriderError, match="--allow-place"):
            listed([text], vocabulary)


# --- the engine's description


def test_no_parameter_of_the_engine_is_a_text_without_a_kind(vocabulary: Vocabulary) -> None:
    """A new text is a place or a choice; a text that is neither is named here, with the reason."""
    neither = {("listio", "transport")}  # a word, and no place: what names a provider reaches no other host
    described = {
        (owner, parameter.name)
        for owners in (vocabulary.interfaces, vocabulary.data.shapes, vocabulary.metadata.shapes)
        for owner, one in owners.items()
        for parameter in one.parameters
        if parameter.kind == "text"
    }
    common = {
        name
        for workload in vocabulary.workloads
        for name, one in workload.common.items()
        if one.kind == "text"
    }
    assert described <= neither
    # Names of folders in the target and of groups: datasets/binding.py and suite/groups.py refuse others.
    assert common == {"dataset", "group"}


def test_the_prefix_of_mpiio_is_one_of_a_list(vocabulary: Vocabulary) -> None:
    prefix = vocabulary.option("mpiio", "prefix")
    assert prefix is not None
    assert prefix.kind == "choice"
    assert {"", "ufs:", "nfs:", "pvfs2:"} <= set(prefix.choices)
    assert all(choice == "" or (choice[-1] == ":" and choice[:-1].isalnum()) for choice in prefix.choices)


@pytest.mark.parametrize("prefix", ["/any/file\\u0000", "/any/file", "../", "nodriver:", "UFS:", "ufs"])
def test_nothing_else_is_put_before_the_path(engine: Engine, vocabulary: Vocabulary, prefix: str) -> None:
    text = f'interface = "mpiio"\npattern = "segmented"\nmpiio.prefix = "{prefix}"'
    whole = f'[suite]\nname = "s"\ntarget = "/data"\n[[case]]\n{text}\n'
    with pytest.raises(SuiteError, match=r"s.toml:7: mpiio.prefix: "):
        build(parse(whole, "s.toml"), engine.description, Changes())


def test_the_limits_of_ranks_are_one(vocabulary: Vocabulary) -> None:
    for workload in vocabulary.workloads:
        assert workload.common["clients"].maximum == MOST_RANKS
