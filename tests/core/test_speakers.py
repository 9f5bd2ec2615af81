"""Who speaks in files of which neither name nor label tells it."""

from core.diagnose import diagnose
from core.model import Scope
from tests.support.jobs import at, job, lines, parse, raised, suspected


def step(n: int) -> str:
    return at(n, f"step {n} loss: 2.{n}")


STEPS = [step(n) for n in range(9)]


def nodes(files: dict[str, list[str]], **manifest: object) -> tuple[tuple[str, ...], tuple[int, ...]]:
    table = parse(job({name: lines(*said) for name, said in files.items()}, **manifest)).table
    return table.nodes, table.ranks


def test_files_that_differ_in_a_word_are_of_one_machine_each() -> None:
    """Whatever it is called; by the name that the lines use, where they use one."""
    assert nodes({f"h-{one}.err": STEPS for one in "abc"})[0] == ("h-a", "h-b", "h-c")
    assert nodes({f"{one}/out.log": STEPS for one in ("east", "west")})[0] == ("east", "west")
    assert nodes({f"out.pi-{one}": STEPS for one in "abc"})[0] == ("pi-a", "pi-b", "pi-c")
    assert nodes({"run.log": STEPS, "run.err": STEPS})[0] == ()
    called = {f"train-trn{n}x.log": [at(0, f"hello from trn{n}x"), *STEPS] for n in range(3)}
    assert nodes(called)[0] == ("trn0x", "trn1x", "trn2x")


def test_a_word_of_its_own_in_each_files_lines_is_the_speaker() -> None:
    """Wherever it stands in the head, whatever stands around it, and however the files are called."""
    names = ("gpu-03", "gpu-04", "gpu-07")

    def says(head: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        told = [[f"{head.format(h=h, r=r)} {step}" for step in ("up", *STEPS)] for r, h in enumerate(names)]
        return nodes({f"{n}b{7 * n}.out": said for n, said in enumerate(told)})

    assert says("13:09:54 - {h} - INFO")[0] == names
    assert says("[{h}] trainer")[0] == names
    assert says("13:09:54; host={h} rank={r};") == (names, (0, 1, 2))
    assert says("R{r}@{h}") == (names, (0, 1, 2))
    assert says("[{r}/3]")[1] == (0, 1, 2)


def test_words_that_are_nobodys_name() -> None:
    """What changes from line to line, is the same in all files, or stands in files that say something else."""
    paths = {f"{one}.out": [f"{text} in part-{one}{n}.bin" for n, text in enumerate(STEPS)] for one in ("x1", "y7")}
    others = {"a.out": [f"reader {text}" for text in STEPS], "b.out": [at(n, "writer is idle") for n in range(9)]}

    assert nodes(paths)[0] == ()
    assert nodes(others)[0] == ()


def test_a_file_that_has_its_ranks_number_behind_a_dot_is_no_machine() -> None:
    """train.2.log is of rank 2, and nobody's machine is called train.2; worker-2 may be one."""
    ranks = {f"train.{n}.log": [f"{text} rank={n}" for text in STEPS] for n in range(3)}
    pods = {f"worker-{n}.log": [f"{text} rank={n}" for text in STEPS] for n in range(3)}

    assert nodes(ranks) == (("rank 0", "rank 1", "rank 2"), (0, 1, 2))
    assert nodes(pods)[0] == ("worker-0", "worker-1", "worker-2")


def test_files_of_other_things_are_of_no_machine() -> None:
    """Attempts, parts, process ids, and two streams of one process."""
    later = [at(3_000 + n, f"step {n} loss: 2.{n}") for n in range(9)]

    assert nodes({"run-a.log": STEPS, "run-b.log": later})[0] == ()
    assert nodes({"plog-11116_1.log": STEPS, "plog-11117_1.log": STEPS})[0] == ()
    assert nodes({"stdout.log": STEPS, "stderr.log": [at(1, "warming up"), at(2, "cache is cold")]})[0] == ()


def test_ranks_introduce_themselves() -> None:
    """Once, when they begin, or on each line; only when together they count from 0."""
    once = {f"h-{one}.err": [at(0, f"rank {n}/3 up"), *STEPS] for n, one in enumerate("abc")}
    each = {f"h-{one}.err": [f"{text} rank={n}" for text in STEPS] for n, one in enumerate("abc")}
    others = {f"h-{one}.err": [at(0, f"rank {n + 4} on gpu"), *STEPS] for n, one in enumerate("abc")}

    assert nodes(once)[1] == nodes(each)[1] == (0, 1, 2)
    assert nodes(others)[1] == ()


def test_numbered_files_of_as_many_ranks_are_theirs() -> None:
    """Where job.json names machines but no ranks; each file names its own, and perhaps the one where all meet."""
    names = ("kd07", "kd08", "kd09")
    says = {f"kd.{n}.log": [at(0, f"meet at kd07, phase 1 on {name}"), *STEPS] for n, name in enumerate(names)}
    silent = {f"kd.{n}.log": STEPS for n in range(3)}

    assert nodes(says, nodes=names) == (names, (0, 1, 2))
    assert nodes(silent, nodes=names)[1] == (0, 1, 2)
    assert nodes({**silent, "kd.3.log": STEPS}, nodes=names)[1] == ()


def test_files_numbered_like_the_machines_of_job_json_are_theirs() -> None:
    """One task a machine, with two streams each; not where a file names another machine than the one of its number."""
    names = ("kd07", "kd08", "kd09")
    says = {f"run.{n}.{stream}": STEPS for n in range(3) for stream in ("err", "out")}
    other = {"run.0.err": [at(0, "phase 1 on kd09"), *STEPS]}

    assert nodes(says, nodes=names) == (names, (0, 1, 2))
    assert nodes(says | other, nodes=names)[0] == ()
    assert nodes(says, nodes=(*names, "kd10"))[0] == ()


def test_a_log_that_names_one_machine_is_not_its_own() -> None:
    """A scheduler names the machine that failed; what speaks there says other things, and stands in no row of files."""
    said = {"sched.log": [at(n, f"node kd08 does not respond, try {n}") for n in range(9)], "kd07.log": STEPS}

    assert nodes(said, nodes=("kd07", "kd08"))[0] == ("kd07",)


def test_srun_tells_where_ranks_are_at_home() -> None:
    """Of ranks that name no machine, if each is a task of one."""
    ranks = {f"rank_{n}.log": STEPS for n in range(3)}
    ended = [f"srun: error: gpu-{n + 5}: task {n}: Terminated" for n in range(3)]

    assert nodes({**ranks, "slurm-7.out": ended})[0] == ("gpu-5", "gpu-6", "gpu-7")
    assert nodes({**ranks, "slurm-7.out": ended[:2]})[0] == ("rank 0", "rank 1", "rank 2")


def test_ranks_tell_once_where_they_run() -> None:
    """Of one file that all write to with their ranks; a machine that is the same for all, or a device, is no home."""

    def merged(where: str) -> tuple[str, ...]:
        first = [f"[rank{n}]: {at(0, where.format(n=n // 2 + 5, g=n))}" for n in range(4)]
        return nodes({"run.log": [*first, *(f"[rank{n}]: {text}" for text in STEPS for n in range(4))]})[0]

    ranks = ("rank 0", "rank 1", "rank 2", "rank 3")
    assert merged("process {g}/4 runs on lat{n}") == ("lat5", "lat6")
    assert merged("hostname: gpu-{n}.x, pid 7{g}") == ("gpu-5.x", "gpu-6.x")
    assert merged("ready on cuda{g}") == ranks
    assert merged("store is on lat7, I am {g}") == ranks


def test_ranks_stand_for_themselves_beside_daemons_of_unknown_ranks() -> None:
    """Daemons name machines, ranks none, and no line joins them: who failed is a rank, of so many ranks."""
    ranks = {f"rank_{n}.log": lines(*STEPS, *(["ValueError: boom"] if n == 1 else [])) for n in range(4)}
    daemons = {f"gpu{n}/kubelet.log": lines(at(0, "Started kubelet"), at(1, "node ready")) for n in range(4)}

    answer = diagnose(job({**ranks, **daemons}), [])

    assert (answer.scope, [node.node for node in answer.nodes]) == (Scope.NODE, ["rank 1"])
    assert "the other 3 ranks" in answer.nodes[0].because


def test_srun_tells_where_tasks_are_at_home_that_are_no_ranks() -> None:
    """torchrun's local ranks behind srun's label: the task is the node, by srun's name for it if there is one."""
    said = [f"{task}: [default{local}]:{text}" for text in STEPS for task in range(2) for local in range(2)]
    ended = [f"srun: error: gpu-{n + 5}: task {n}: Exited with exit code 1" for n in range(2)]

    assert nodes({"slurm-7.out": [*said, *ended]})[0] == ("gpu-5", "gpu-6")
    assert nodes({"slurm-7.out": said})[0] == ("task 0", "task 1")


def test_processes_of_rays_stand_for_themselves_on_one_machine() -> None:
    """By the label that Ray gives them; whose exception the driver prints is told by its number."""
    said = [f"(Trainer pid={400 + n}) {text}" for text in STEPS for n in range(3)]
    error = "ray.exceptions.RayTaskError(FileNotFoundError): ray::Trainer.loop() (pid=401, ip=10.0.0.1, actor_id=7)"
    failed = ["Traceback (most recent call last):", '  File "drive.py", line 7, in <module>', error]

    answer = diagnose(job({"driver.log": lines(*said, *failed)}, nodes=("head",), world_size=3), [])

    assert (answer.scope, [node.node for node in answer.nodes]) == (Scope.NODE, ["Trainer pid=401"])
    assert answer.coverage.nodes_missing == ()


def test_nodes_are_compared_where_nobody_tells_ranks() -> None:
    """One that stands still is found, and no rank is invented."""
    says = {
        f"h-{one}.err": [at(n, text) for n in range(30) for text in (f"step {n} loss: 2.{n}", f"save {n}")]
        for one in "abcd"
    }
    says["h-c.err"] = says["h-c.err"][:-1]
    hung = job(
        {name: lines(*said) for name, said in says.items()}, start="2026-11-21T04:00:00", end="2026-11-21T04:02:00"
    )

    answer = diagnose(hung, [])

    assert (answer.scope, [node.node for node in answer.nodes]) == (Scope.NODE, ["h-c"])
    assert answer.nodes[0].ranks == ()
    assert "rank" not in answer.nodes[0].because


def plain(last: int) -> list[str]:
    """Steps without any clock."""
    return [f"step {n} loss: 2.{n}" for n in range(last)]


def test_files_that_name_themselves_in_a_line_that_all_say_are_of_one_machine_each() -> None:
    """No clock is needed, and no digit in the names."""
    named = {f"{one}.log": [f"{one} lightgbm 4.7.0", *plain(3 * n)] for n, one in enumerate(("luna", "sol", "terra"))}
    phases = {f"{one}.log": [f"{one} started", *plain(3)] for one in ("train", "eval")}

    assert nodes(named)[0] == ("luna", "sol", "terra")
    assert nodes(phases)[0] == ()


def test_files_with_ranks_of_their_own_are_of_one_machine_each() -> None:
    """But for those that are called after their ranks; what stands beside them under the same name is theirs."""
    labelled = {f"{one}.err": [f"[rank{n}]: {text}" for text in plain(4)] for n, one in enumerate(("kiwi", "mango"))}
    beside = labelled | {f"{one}.out": plain(4) for one in ("kiwi", "mango")}
    numbered = {f"w{n}.err": [f"[rank{n}]: {text}" for text in plain(4)] for n in range(2)}

    assert nodes(labelled)[0] == nodes(beside)[0] == ("kiwi", "mango")
    assert not {origin.node for origin in parse(job({n: lines(*t) for n, t in beside.items()})).table.origins} - {
        "kiwi",
        "mango",
    }
    assert nodes(numbered)[0] == ("rank 0", "rank 1")


def test_what_all_names_end_in_is_no_part_of_a_machines_name() -> None:
    """bergen-json.log and oslo-json.log are of bergen and oslo."""
    assert nodes({f"{one}-json.log": STEPS for one in ("bergen", "oslo")})[0] == ("bergen", "oslo")


def test_a_number_behind_a_dot_is_no_machine() -> None:
    """workerlog.0 names nobody; where job.json names machines, the one that each file speaks of is its own."""
    said = {f"workerlog.{n}": [f"yq0{n} | trainer {n}/3", *plain(5)] for n in range(3)}

    assert "0" not in nodes(said)[0]
    assert nodes(said, nodes=("yq00", "yq01", "yq02"))[0] == ("yq00", "yq01", "yq02")


def test_streams_of_one_process_have_one_speaker() -> None:
    """stderr.1 tells its rank, stdout.1 nothing; w0.jsonl its host, w0.err nothing."""
    numbered = {f"stderr.{n}": [f"worker {n}/3 on mz{n}", *plain(4)] for n in range(3)}
    numbered |= {f"stdout.{n}": ["Full thread dump"] for n in range(3)}
    table = parse(job({name: lines(*said) for name, said in numbered.items()})).table

    assert {origin.node for origin in table.origins} == {"mz0", "mz1", "mz2"}


def test_files_whose_lines_have_the_word_of_their_name_are_signed() -> None:
    """A hub and its workers, which say different things; what stands beside them is theirs."""
    said = {f"{name}.log": [at(k, f"{name} work: pass {k} ok") for k in range(9)] for name in ("eta", "iota")}
    said["zeta.log"] = [at(k, f"zeta hub: {k} sums of all") for k in range(9)]
    said["iota.err"] = ["Illegal division by zero at pegs.pl line 29, <GEN0> line 42."]  # perldiag
    table = parse(job({name: lines(*texts) for name, texts in said.items()})).table

    assert table.nodes == ("eta", "iota", "zeta")
    assert {origin.node for origin in table.origins} == {"eta", "iota", "zeta"}


def test_files_of_machines_of_which_one_never_tells_its_rank() -> None:
    """torch labels the traceback of who complains; who was killed says nothing, and has a file like the others."""
    said = {f"hpc-g1{n}.stderr": [*STEPS] for n in range(3)}
    for n in (0, 2):
        said[f"hpc-g1{n}.stderr"] += [f"[rank{n}]: {line}" for line in raised("RuntimeError: Connection reset by peer")]

    assert nodes(said)[0] == ("hpc-g10", "hpc-g11", "hpc-g12")


def test_the_number_of_a_process_before_its_lines_is_not_its_machine() -> None:
    """The file is called after that."""
    said = {
        f"out.pi-{name}": [f"18:01:14 pi-{name} begins", *(f"p{n}: pass {k} mean 127.3" for k in range(5, 50, 5))]
        for n, name in enumerate("abcd")
    }
    table = parse(job({name: lines(*texts) for name, texts in said.items()})).table

    assert table.nodes == ("pi-a", "pi-b", "pi-c", "pi-d")


def test_only_srun_names_the_machines() -> None:
    """One file of all, without labels, and no job.json: who ended by itself said what stands above it."""
    said = [
        *raised("ModuleNotFoundError: No module named 'numpy._core._multiarray_umath'"),
        "srun: error: cn0115: task 3: Exited with exit code 1",
        "srun: launch/slurm: _step_signal: Terminating StepId=418901.0",
        "srun: error: cn0108: task 1: Terminated",
        "srun: error: cn0112: task 2: Terminated",
        "srun: error: cn0107: task 0: Terminated",
    ]
    found = diagnose(job({"slurm-418901.out": lines(*said)}), [])

    assert (found.scope, [one.node for one in found.nodes]) == (Scope.NODE, ["cn0115"])
    assert "a module or library is missing" in found.headline


def test_a_rank_that_a_file_names_in_a_line_of_its_own_again_and_again_is_its_speaker() -> None:
    """Wherever it stands: behind DeepSpeed's place in the code and a machine's name; other files name other ranks."""

    def says(rank: int, *, names: int | None = None) -> list[str]:
        own = rank if names is None else names
        return [at(n, f"[INFO] [ds.py:18:<module>] bm-{rank} rank {own} step {n}: loss 2.5") for n in range(1, 9)]

    assert nodes({f"bm-{rank}.out": says(rank) for rank in range(3)})[1] == (0, 1, 2)
    assert nodes({f"bm-{rank}.out": says(rank, names=2) for rank in range(3)})[1] == ()  # all wait for that one


def test_the_rank_of_a_files_output_is_that_of_its_errors() -> None:
    """Standard error of the same process names none."""
    out = {f"bm-{rank}.stdout": [at(n, f"bm-{rank} rank {rank} step {n}") for n in range(1, 9)] for rank in range(3)}
    err = {f"bm-{rank}.stderr": [at(9, f"W socket.cpp:207] closing {rank}")] for rank in range(3)}
    table = parse(job({name: lines(*said) for name, said in (out | err).items()})).table

    assert {(table.files[table.file_of_voice[voice]], origin.rank) for voice, origin in enumerate(table.origins)} == {
        (f"logs/bm-{rank}.{stream}", rank) for rank in range(3) for stream in ("stdout", "stderr")
    }


def test_one_of_several_files_may_hold_a_long_traceback_or_have_a_wrong_clock() -> None:
    """The others say the same, and it says some of it; names of machines that are no numbers stay their names."""
    usual = [at(0, "W socket.cpp:207] no name"), *STEPS]
    failed = [at(0, "W socket.cpp:207] no name"), *(line for _ in range(9) for line in raised("ValueError: x"))]
    late = [line.replace("2026-11-21", "2026-08-23") for line in usual]
    names = ("kestrel", "merlin", "osprey")

    for odd in (failed, late):
        assert nodes(dict(zip((f"{name}.out" for name in names), (usual, usual, odd), strict=True)))[0] == names


def test_paddle_numbers_its_files_by_rank() -> None:
    """The number is no ending."""
    assert nodes({f"log/workerlog.{rank}": STEPS for rank in range(3)})[1] == (0, 1, 2)


def test_a_number_of_its_own_in_each_files_lines_is_a_rank_under_any_key() -> None:
    """Where they count all ranks that job.json tells of; a key that all files share the value of tells nothing."""
    said = {f"n-{n // 2}/deck{n % 2}.log": [f"{line} deck={n} fleet=6" for line in STEPS] for n in range(6)}

    assert nodes(said, world_size=6)[1] == (0, 1, 2, 3, 4, 5)
    assert nodes(said, world_size=12)[1] == ()


def test_files_of_an_array_are_no_machines() -> None:
    """``dedup_8812_5.out`` is task 5, which tells where it runs."""
    said = {f"dedup_8812_{n}.out": [f"task {n} of 4 on cpu{n + 111}, 32 procs", *STEPS] for n in range(4)}

    assert nodes(said) == (("cpu111", "cpu112", "cpu113", "cpu114"), (0, 1, 2, 3))


def test_files_beside_those_that_are_called_after_nodes_train_nothing() -> None:
    """What a probe measures on each node is a daemon's."""
    known = {"nodes": ("gpu-0", "gpu-1"), "node_ranks": {"gpu-0": (0,), "gpu-1": (1,)}, "world_size": 2}
    files = {f"gpu-{n}.log": lines(*STEPS) for n in range(2)} | {
        f"top_gpu-{n}.log": lines(at(1, "load 4")) for n in range(2)
    }
    table = parse(job(files, **known)).table
    ranks = {table.files[file]: origin.rank for file, origin in zip(table.file_of_voice, table.origins, strict=True)}

    assert {name: rank for name, rank in ranks.items() if "top" not in name} == {
        "logs/gpu-0.log": 0,
        "logs/gpu-1.log": 1,
    }
    assert {rank for name, rank in ranks.items() if "top" in name} == {None}


def test_what_all_names_of_files_begin_with_is_no_part_of_a_machines_name() -> None:
    """Where files name the machines of the others without it."""
    names = ("hel", "freya", "loki")
    files = {
        f"kestrel.{name}.txt": [*STEPS, at(10, f"ring: neighbour {names[(n + 1) % 3]} closed")]
        for n, name in enumerate(names)
    }

    assert nodes(files)[0] == ("freya", "hel", "loki")


def test_files_that_are_called_alike_are_not_all_of_the_one_that_a_launcher_names() -> None:
    """Slurm reports the end of tasks on one node of four."""
    files = {f"tt-nid00{n}.log": STEPS for n in (2101, 2104, 2177, 2190)}
    files["slurm.err"] = ["srun: error: nid002177: task 2: Out Of Memory"]
    assert suspected(job({name: lines(*said) for name, said in files.items()})) == ["tt-nid002177"]
