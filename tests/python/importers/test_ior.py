"""IOR's options: each is understood, noted or refused, and none is passed over."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from strider.cli import main
from strider.engine import Json
from strider.errors import StriderError
from strider.importers import Imported
from strider.importers.ior import Surroundings, read_command, read_script
from strider.importers.ior.options import BY_NAME, OPTIONS
from strider.importers.options import Option
from strider.suite import Suite

USERS_LETTERS = "abtsiwrWRFcCQZXzDeYkKEmoOdNjgGVUpulMTJx"


def read(arguments: str, tasks: int = 4, per_node: int | None = None, **environment: str) -> Imported:
    return read_command(shlex.split(arguments), Surroundings(tasks, per_node, environment))


def case(arguments: str, tasks: int = 4, per_node: int | None = None, **environment: str) -> dict[str, Json]:
    """The keys of the only case."""
    return dict(read(arguments, tasks, per_node, **environment).document.data["case"][0])


class TestWhatIsUnderstood:
    @pytest.mark.parametrize(
        ("arguments", "keys"),
        [
            ("-a POSIX", {"interface": "posix"}),
            ("-a mpiio", {"interface": "mpiio", "mpiio": {"access": "independent"}}),
            ("-a MPIIO -c", {"mpiio": {"access": "collective"}}),
            ("-a MPIIO -V", {"mpiio": {"access": "independent", "method": "view"}}),
            ("-a MPIIO --mpiio.useFileView", {"mpiio": {"access": "independent", "method": "view"}}),
            ("-a MPIIO -o ufs:/data/f", {"mpiio": {"access": "independent", "prefix": "ufs:"}}),
            ("-a DUMMY", {"interface": "null"}),
            ("--posix.odirect", {"posix": {"direct": True}}),
            ("-B", {"posix": {"direct": True}}),
            ("-O useO_DIRECT=1", {"posix": {"direct": True}}),
            ("", {"operations": ["write", "read"], "transfer": "256KiB", "block": "1MiB", "segments": 1}),
            ("-w", {"operations": ["write"]}),
            ("-r", {"operations": ["read"]}),
            ("-w -W", {"operations": ["write", "read"], "verify": "full"}),
            ("-w -R", {"operations": ["write", "read"], "verify": "full"}),
            ("-E -w -r", {"operations": ["rewrite", "read"]}),
            ("-i 5", {"repetitions": 5}),
            ("-F", {"sharing": "per-rank"}),
            ("", {"sharing": "shared", "sync": "none"}),
            ("-e", {"sync": "end"}),
            ("-Y", {"sync": "each"}),
            ("-e -Y", {"sync": "each"}),
            ("-D 30", {"deadline": 30, "wear_out": False}),
            ("-D 30 -O stoneWallingWearOut=1", {"deadline": 30, "wear_out": True}),
            ("-d 5", {"settle": 5}),
            ("-N 3", {"clients": 3}),
            ("-N 1", {"clients": 1}),
            ("-N 0", {"clients": 4}),
            ("-t 1g -b 1t", {"transfer": "1GiB", "block": "1TiB"}),
            ("-t 47008 -b 47008", {"transfer": 47008}),
            ("-zF --random-offset-seed=3", {"pattern": "segmented", "order": "random", "seed": 3}),
            ("-z", {"pattern": "random", "size": "4MiB"}),
            (
                "-r -z -z -t=4096 -b=4096 -s=1000",
                {"pattern": "random", "replacement": True, "count": 1000, "size": 16384000},
            ),
            ("-r -zz -F -t 4k -b 4k -s 1k", {"replacement": True, "size": "4MiB", "sharing": "per-rank"}),
            ("-O interIODelay=250", {"think": "250us"}),
            ("-O minTimeDuration=5", {"runtime": 5}),
            ("-z -O randomPrefill=512k", {"operations": ["rewrite", "read"]}),
            ("-C -C -O numTasksOnNode0=1", {"readback": "shift", "shift": 1}),
            ("-Z", {"readback": "shuffle"}),
            ("-ZZ -X -9", {"readback": "shuffle", "seed": 9}),
        ],
    )
    def test_an_option_becomes_keys_of_the_case(self, arguments: str, keys: dict[str, Json]) -> None:
        found = case(arguments)
        assert {key: found.get(key) for key in keys} == keys

    @pytest.mark.parametrize(
        "arguments",
        [
            "-b 2m",
            "-b2m",
            "-b=2m",
            "-wb2m",
            "-O blockSize=2m",
            "-O=blockSize=2m",
            "-OblockSize=2m",
            "-O 'fsync=1, BLOCKSIZE = 2m # for large files'",
            "-O fsync=1 -O blocksize=2m",
            "--blockSize=2m",
        ],
    )
    def test_a_value_may_be_written_in_several_ways(self, arguments: str) -> None:
        assert case(arguments)["block"] == "2MiB"

    def test_a_time_limit_in_minutes_is_that_of_the_suite(self) -> None:
        suite = read("-T 3 -i 5").document.data["suite"]
        assert suite["time_limit"] == "3min"
        assert "time_limit" not in read("-T 0").document.data["suite"]

    @pytest.mark.parametrize(
        "arguments",
        [
            "-r -z -z -t 4k -b 4k -s 9",
            "-O interIODelay=250",
            "-T 1",
            "-F -O minTimeDuration=1",
            "-z -O randomPrefill=512k",
        ],
    )
    def test_the_engine_takes_what_they_become(
        self, arguments: str, plan_of: Callable[[Imported], object]
    ) -> None:
        assert plan_of(read(arguments))

    def test_the_folder_of_the_test_file_is_the_target(self) -> None:
        assert read("-o /mnt/pfs/a/file").document.data["suite"]["target"] == "/mnt/pfs/a"
        assert read("").document.data["suite"]["target"] == "."

    def test_tests_are_run_one_after_the_other(self) -> None:
        assert read("").document.data["suite"]["interleave"] == "none"

    def test_hints_come_from_a_file_and_from_the_environment(self, tmp_path: Path) -> None:
        file = tmp_path / "hints"
        file.write_text(
            "# for writing\nsetenv IOR_HINT__MPI__romio_cb_write enable\nIOR_HINT__MPI__cb_nodes=2\n"
        )
        found = case(f"-a MPIIO -U {file}", IOR_HINT__MPI__cb_nodes="4", HOME="/")
        assert found["mpiio"]["hints"] == {"romio_cb_write": "enable", "cb_nodes": "4"}

    def test_a_line_that_is_no_hint_is_named(self, tmp_path: Path) -> None:
        file = tmp_path / "hints"
        file.write_text("romio_cb_write enable\n")
        with pytest.raises(StriderError, match=r'hints:1: "romio_cb_write enable" is not an MPI-IO hint'):
            read(f"-a MPIIO -U {file}")


class TestNothingIsPassedOver:
    def test_the_options_that_users_use_are_known(self) -> None:
        assert set(USERS_LETTERS) - set("O") <= {option.letter for option in OPTIONS}

    @pytest.mark.parametrize("option", [o for o in OPTIONS if o.note], ids=lambda option: option.name)
    def test_an_option_that_differs_is_named_with_the_difference(self, option: Option) -> None:
        value = {"flag": "1", "number": "5", "size": "4k", "text": "x"}[option.kind]
        notes = read(f"-O {option.name}={value}").notes
        assert f"-O {option.name}={value}: {option.note}" in notes

    @pytest.mark.parametrize("option", [o for o in OPTIONS if o.refusal], ids=lambda option: option.name)
    def test_an_option_that_is_not_supported_is_named_with_the_reason(self, option: Option) -> None:
        value = {"flag": "1", "number": "5", "size": "4k", "text": "x"}[option.kind]
        with pytest.raises(StriderError) as caught:
            read(f"-O {option.name}={value}")
        named = f"-O {option.name}={value}: {option.name} is not supported: {option.refusal}"
        assert named in caught.value.message

    @pytest.mark.parametrize("option", [o for o in OPTIONS if o.refusal and o.letter], ids=lambda o: o.letter)
    def test_so_is_its_letter(self, option: Option) -> None:
        value = "" if option.kind == "flag" else " 5"
        with pytest.raises(StriderError, match=f"-{option.letter}{value}: {option.name} is not supported"):
            read(f"-{option.letter}{value}")

    def test_a_directive_that_asks_for_nothing_is_no_mistake(self) -> None:
        assert read("-O useSharedFilePointer=0,setAlignment=1,GPUid=-1,keepFile=0").notes == []

    @pytest.mark.parametrize(
        ("arguments", "note"),
        [
            ("-r", "-w is missing: Strider reads only its own files"),
            ("-c", "-c: it has no effect, because it applies to MPIIO only"),
            ("-p", "-p: it has no effect, because it applies to MPIIO only"),
            (
                "-a MPIIO --posix.odirect",
                "--posix.odirect: it has no effect, because it applies to POSIX only",
            ),
            ("-C", "-C: task rank + 1 × 4 is the same task, so each task reads its own data, as in IOR"),
            ("-z", "-z: as in IOR, each transfer of the shared file goes to a random task"),
            ("-Z", "-Z: the tasks are shuffled"),
            ("-R", "-R: reads verify every byte"),
            ("-k", "-k: Strider removes its test files at the end of a run"),
            ("-K", "-K: Strider removes its test files at the end of a run"),
            ("-m", "-m: each repetition creates new files anyway"),
            ("-u", "-u: all files are in one directory"),
            (
                "-k -D 5 -O stoneWallingWearOut=1,stoneWallingStatusFile=/f",
                "-O stoneWallingStatusFile=/f: a suite has no status file",
            ),
            ("-E", "-E: Strider creates the file to be overwritten in advance"),
            (
                "-z -O randomPrefill=512k",
                "-O randomPrefill=512k: Strider fills the file in advance, unmeasured",
            ),
            ("-O interIODelay=5", "-O interIODelay=5: tasks compute for this time after each transfer"),
            ("-O minTimeDuration=5", "-O minTimeDuration=5: tasks stop when this time is over"),
            ("-T 2", "-T 2: no repetition begins that would probably end after this time"),
        ],
    )
    def test_what_depends_on_other_options_is_noted_too(self, arguments: str, note: str) -> None:
        assert any(found.startswith(note) for found in read(arguments).notes)

    def test_a_plain_command_line_has_no_notes(self) -> None:
        assert read("-a POSIX -w -r -b 4m -t 1m -s 2 -F -e -i 3 -o /data/f").notes == []


MISTAKES = {
    "-L": "-L: IOR has no option -L",
    "-wL": "-wL: IOR has no option -L",
    "--collectiv": 'unknown option "collectiv": did you mean "collective"?',
    "--hdf5.chunkSize=4": "--hdf5.chunkSize=4: the options of hdf5 are not supported",
    "-b": "-b: a value is missing",
    "-b x": '-b x: "x" is not a size: write for instance 8, 4k, 2m or 1g',
    "-i many": '-i many: "many" is not a number',
    "-i 0": "-i 0: at least 1 repetition is needed",
    "-s 0": "-s 0: at least 1 segment is needed",
    "-t 12": "-t 12: the transfer size must be a multiple of 8 bytes",
    "-b 1000 -t 256": "-b 1000: the block size must be a multiple of the transfer size: for instance -b 768",
    "-t 4m": "-t 4m: the block size must be a multiple of the transfer size: for instance -b 4194304",
    "-O stoneWallingStatusFile=/f": "stoneWallingStatusFile needs files that stay: add -k, as in IOR",
    "-k -O stoneWallingStatusFile=/f": "needs stoneWallingWearOut where a test writes, as in IOR",
    "-a S3": "-a S3: interface S3 is not supported: use POSIX, MPIIO, DUMMY, MMAP, HDF5, NCMPI or CEPHFS",
    "-C -Z": "-Z: -C and -Z exclude each other",
    "-z -C": "-z: -z with -C or -Z needs -F, as in IOR",
    "-zz": "-z: -z twice only reads, because IOR draws offsets in an existing file: give -r alone",
    "-r -zz": "-z: -z twice needs blocks of one transfer here: give -b 262144",
    "-O randomPrefill=512k": "-O randomPrefill=512k: randomPrefill needs -z, as in IOR",
    "-z -O randomPrefill=3k": "-O randomPrefill=3k: it must divide the block size, 1048576 bytes, as in IOR",
    "-D 3 -O minTimeDuration=5": "minTimeDuration=5: a minimum and a maximum of the time (-D)",
    "-O keepfiles=1": 'unknown directive "keepfiles": did you mean "keepFile"?',
    "-O keepFile": '"keepFile" is not a directive: write for instance transferSize=1m',
    "-O stoneWallingWearOut=1": "stoneWallingWearOut needs a deadline: give -D",
    "-o a@b": "-o a@b: several test files are not supported",
    "-a MPIIO -p": "-p: preallocate is not supported with MPI-IO",
    "mpiexec -n 4 ior": "mpiexec: it is not an option: after --, give the options of IOR only",
    "-f script -w": "-w: options after -f",
    "-f no-such-script": "-f no-such-script: No such file or directory",
}


@pytest.mark.parametrize("arguments", MISTAKES)
def test_a_mistake_is_named_with_what_would_be_right(arguments: str) -> None:
    with pytest.raises(StriderError) as caught:
        read(arguments)
    assert MISTAKES[arguments] in caught.value.message


def test_all_mistakes_are_named_at_once() -> None:
    with pytest.raises(StriderError) as caught:
        read("-M 50% -P -i 0")
    assert len(caught.value.message.splitlines()) == 3


def test_what_the_engine_objects_to_is_named_by_the_option(plan_of: Callable[[Imported], object]) -> None:
    with pytest.raises(StriderError, match=r"^-t 1000: direct I/O needs"):
        plan_of(read("--posix.odirect -t 1000 -b 1000", tasks=1))


SCRIPT = """\
IOR START   # everything before is ignored
    api=POSIX
    testFile=/data/file
    repetitions=2, segmentCount=1
    transferSize=64k     # per call
    blockSize=256k
    filePerProc=1
RUN
    --mpiio.useFileView = 0
    api=MPIIO
    collective=1
run
RUN
ior stop
and after
"""


class TestScripts:
    def test_each_run_keeps_what_was_set_before(self) -> None:
        cases = read_script(SCRIPT, "script").document.data["case"]
        assert [(c["interface"], c["sharing"], c["repetitions"]) for c in cases] == [
            ("posix", "per-rank", 2), ("mpiio", "per-rank", 2), ("mpiio", "per-rank", 2)
        ]  # fmt: skip

    def test_a_test_that_is_run_twice_is_two_cases(self, suite_of: Callable[[Imported], Suite]) -> None:
        assert len(suite_of(read_script(SCRIPT, "script")).plan.cases) == 3

    def test_the_command_line_gives_defaults(self, tmp_path: Path) -> None:
        file = tmp_path / "script"
        file.write_text(SCRIPT)
        cases = read_command(["-e", "-b", "4m", "-f", str(file)], Surroundings(2)).document.data["case"]
        assert [(c["sync"], c["block"], c["clients"]) for c in cases] == [("end", "256KiB", 2)] * 3

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("api=MPIIO", "apy=MPIIO", 'script:10: unknown directive "apy": did you mean "api"?'),
            ("blockSize=256k", "blockSize=x", 'script:6: blockSize: "x" is not a size'),
            ("blockSize=256k", "blockSize 256k", 'script:6: "blockSize 256k" is not a directive'),
            ("blockSize=256k", "blockSize=100k", "script:6: the block size must be a multiple"),
            ("collective=1", "useSharedFilePointer=1", "script:11: useSharedFilePointer is not supported"),
            ("collective=1", "testFile=/other/f", "script:11: testFile: a run has one target directory"),
            ("ior stop", "", "script:15: IOR STOP is missing"),
            ("RUN\nior stop", "fsync=1\nior stop", "script:13: no test uses this setting: add RUN"),
            ("IOR START", "IOR BEGIN", "script:1: the script has no test"),
        ],
    )
    def test_a_mistake_is_named_with_its_line(self, old: str, new: str, message: str) -> None:
        with pytest.raises(StriderError, match=re.escape(message)):
            read_script(SCRIPT.replace(old, new), "script")

    def test_what_the_engine_objects_to_is_named_by_the_line(
        self, plan_of: Callable[[Imported], object]
    ) -> None:
        text = SCRIPT.replace("filePerProc=1", "useO_DIRECT=1").replace(
            "transferSize=64k", "transferSize=1000"
        )
        with pytest.raises(StriderError, match=r"^script:5: direct I/O needs"):
            plan_of(read_script(text.replace("blockSize=256k", "blockSize=2000"), "script"))

    def test_a_time_limit_is_noted_where_it_applies_to_several_tests(self) -> None:
        imported = read_script(SCRIPT.replace("collective=1", "maxTimeDuration=5"), "script")
        assert [note for note in imported.notes if "maxTimeDuration" in note or "script:11" in note] == [
            note
            for note in imported.notes
            if note.startswith("script:11: it has no effect, because it applies")
        ]
        assert "time_limit" not in imported.document.data["suite"]

    def test_a_difference_is_noted_with_its_line(self) -> None:
        notes = read_script(SCRIPT.replace("collective=1", "keepFile=1"), "script").notes
        assert notes == ["script:11: Strider removes its test files at the end of a run"]


class TestTheCommand:
    @pytest.fixture(autouse=True)
    def _store(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("STRIDER_STORE", str(tmp_path / "store"))

    def test_it_prints_the_table_that_users_of_ior_know(
        self, engine: object, target: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        words = shlex.split(f"-w -r -b 256k -t 64k -s 2 -i 2 -F -k -o {target}/file")
        assert main(["ior", "-n", "2", "-q", "--", *words]) == 0
        output = capfd.readouterr()
        assert "note: -k" not in output.err
        names = (
            "access bw(MiB/s) IOPS Latency(s) block(KiB) xfer(KiB) open(s) wr/rd(s) close(s) total(s) iter"
        )
        assert names.split() in [line.split() for line in output.out.splitlines()]
        rows = re.findall(
            r"^(write|read) +[\d.]+ +[\d.]+ +[\d.]+ +256.00 +64.00 .* (\d) *$", output.out, re.M
        )
        assert rows == [("write", "0"), ("read", "0"), ("write", "1"), ("read", "1")]
        for access, label in (("write", "Max Write: "), ("read", "Max Read:  ")):
            rates = [float(rate) for rate in re.findall(rf"^{access} +([\d.]+) .* \d *$", output.out, re.M)]
            (largest,) = re.findall(rf"^{label}([\d.]+) MiB/sec \([\d.]+ MB/sec\)$", output.out, re.M)
            assert float(largest) == pytest.approx(max(rates), rel=1e-3)  # rows have fewer digits
        head, write, read = output.out[output.out.index("Summary of all tests:") :].splitlines()[1:4]
        assert len(head.split()) == len(write.split()) == len(read.split())
        for access in ("write", "read"):
            assert re.search(rf"^strider: trust: {access}: [ABCD]( .*)?$", output.err, re.M)
        left = {path.name for path in target.iterdir()}
        assert left == {"file.00000000", "file.00000001", ".strider-data.file.per-rank"}

    def test_a_checked_run_through_a_deadline_is_valid(
        self, engine: object, target: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        words = shlex.split(f"-w -W -r -R -b 256k -t 64k -C -i 2 -D 20 -e -o {target}/file")
        assert main(["ior", "-n", "3", "--tasks-per-node", "1", "-q", "--", *words]) == 0
        shown = capfd.readouterr().err
        assert "WARNING" not in shown
        last = next(line for line in shown.splitlines() if line.startswith("strider: Data"))
        assert re.fullmatch(r"strider: Data verified: [\d.]+ MiB read, .* checked, 0 bytes wrong\.", last)

    def test_the_suite_can_be_written_instead(
        self, engine: object, tmp_path: Path, target: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        suite = tmp_path / "ior.toml"
        assert main(["ior", "-n", "2", "--suite", str(suite), "--", "-F", "-o", f"{target}/file"]) == 0
        assert main(["plan", str(suite)]) == 0
        assert "2 ranks" in capfd.readouterr().out


def test_the_names_of_options_are_unambiguous() -> None:
    names = [name.lower() for option in OPTIONS for name in option.names]
    assert len(names) == len(set(names)) == len(BY_NAME)
