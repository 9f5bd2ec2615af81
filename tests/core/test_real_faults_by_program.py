"""Facts on lines of real failures, by the program that prints them: role and kind of each.

Each line stands below its source: a public issue (repository and number) or the program that prints it.
"""

import pytest

from core.facts import Fact, fact_of
from tests.core.jobs import job, lines, parse

REAL = (
    # PIL
    ("PIL.UnidentifiedImageError: cannot identify image file <_io.BytesIO object at 0x7f1c2a3b4c50>", "root", "data"),
    ("OSError: image file is truncated (12 bytes not processed)", "root", "data"),
    # a public repository
    ("Okt 06 17:59:27 balrog kernel: NVRM: GPU 0000:01:00.0: GPU has fallen off the bus.", "root", "accelerator"),
    ("nvidia-nvswitch0: SXid (PCI:0000:59:00.0): 23001, Fatal, Link 12 Always Fatal", "root", "accelerator"),
    (
        "[5975153.878190] EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1",
        "root",
        "machine",
    ),
    ("kernel: mce: [Hardware Error]: Machine check events logged", "root", "machine"),
    ("pcieport 0002:00:00.0: AER: Uncorrected (Fatal) error received: 0002:01:00.0", "root", "machine"),
    ("pcieport 0000:80:01.0: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Inaccessible,", "root", "machine"),
    (
        "[Wed May 25 05:27:59 2022] watchdog: BUG: soft lockup - CPU#58 stuck for 23s! [ksoftirqd/58:302]",
        "root",
        "machine",
    ),
    ("Kernel panic - not syncing: Fatal machine check", "root", "machine"),
    ("Oct 16 20:47:19 V09 kernel: INFO: task python:2767319 blocked for more than 120 seconds.", "root", "storage"),
    (
        "slurmstepd: error: Detected 1 oom_kill event in StepId=18835145.batch. Some of the step tasks",
        "root",
        "host memory",
    ),
    (
        "slurmstepd: error: StepId=7.batch exceeded memory limit (734003200 > 524288000), being killed",
        "root",
        "memory limit",
    ),
    ("(raylet) A worker died or was killed while executing a task by an unexpected system error. To", "root", "killed"),
    ("[2024-03-02T04:51:47.101] requeue job JobId=12307 due to failure of node n042", "root", "node lost"),
    ("Warning   NodeNotReady   node/ip-10-0-2-138.ec2.internal   Node ip-10-0-2-138.ec2.internal", "root", "node lost"),
    (
        "Warning BackoffLimitExceeded 4m43s job-controller Job has reached the specified backoff limit",
        "teardown",
        "end of the job",
    ),
    (
        "58m   Warning   FailedScheduling   Pod/trainer-0   0/3 nodes are available: 3 node(s) didn't",
        "root",
        "not scheduled",
    ),
    (
        "Warning  FailedScheduling  default-scheduler  0/3 nodes are available: 1 Insufficient cpu, 2",
        "root",
        "not scheduled",
    ),
    (
        "Warning  FailedMount  11s (x6 over 27s)  kubelet            MountVolume.SetUp failed for volume",
        "root",
        "storage",
    ),
    (
        'Failed to pull image "localhost:5000/trainer:latest": rpc error: code = Unknown desc = Error',
        "root",
        "platform",
    ),
    ("[2024-05-04T11:02:03.000] _slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=50922 uid 1001", "stop", "cancelled"),
    (
        "slurmstepd: error: *** JOB 31182239 ON sh-06-34 CANCELLED AT 2018-11-05T10:35:06 DUE TO JOB",
        "stop",
        "cancelled",
    ),
    ("[2022-06-01T04:05:04.581] _job_complete: JobId=42801 WEXITSTATUS 2", "teardown", "end of the job"),
    ("[2022-06-02T04:05:04.581] Time limit exhausted for JobId=42801", "stop", "time limit"),
    ("srun: error: Unable to create step for job 4412: More processors requested than permitted", "root", "settings"),
    ("srun: error: Unable to create step for job 20192207: Invalid generic resource (gres)", "root", "settings"),
    (
        "[  445.937186] mlx5_core 0000:0d:00.0: poll_health:801:(pid 0): device's health compromised -",
        "root",
        "network link",
    ),
    (
        "mlx5_core 0000:00:00.1: mlx5_health_try_recover:338:(pid 5553): health recovery flow aborted,",
        "root",
        "network link",
    ),
    ("[106378.638757] NETDEV WATCHDOG: eth0 (i40e): transmit queue 0 timed out", "root", "network link"),
    ("[11302.336601] tg3 0000:56:00.0 lc4: Link is down", "root", "network link"),
    (
        "[1653901933.4] [gpu02:5215 :0] mpool.c:226 UCX  ERROR Failed to allocate memory pool chunk:",
        "root",
        "network plugin",
    ),
    (
        "[1650121445.321789] [cpn3286:242769:0]          select.c:514  UCX  ERROR   no active messages",
        "root",
        "network plugin",
    ),
    ("LustreError: 167-0: fs-abcd12345-OST0000-osc-XXXXX: This client was evicted by", "root", "storage"),
    (
        "May 31 19:17:40 dev-haswell-gpu01 kernel: [  977.050305] nfs: server fs.tcblab not responding,",
        "root",
        "storage",
    ),
    ("nfs: server 127.0.0.1 not responding, timed out", "root", "storage"),
    ("nvme nvme0: controller is down; will reset: CSTS=0x3, PCI_STATUS=0x10", "root", "storage"),
    (
        "Feb 25 13:23:19 kernel: blk_update_request: I/O error, dev sde, sector 76492800 op 0x0:(READ)",
        "root",
        "storage",
    ),
    ("[  391.292067] EXT4-fs error (device vdb): htree_dirblock_to_tree:1038: inode #8193: block", "root", "storage"),
    ("kernel: EXT4-fs (sda1): Remounting filesystem read-only", "root", "storage"),
    ("[ 23949.221] sd 8:0:42:0: rejecting I/O to offline device", "root", "storage"),
    (
        "May 7 22:25:29 gpfs02 mmfs: [E] CCR: failed to connect to node 172.17.0.101:1191 (sock 42 err",
        "root",
        "storage",
    ),
    ("ls: cannot access '/fsx/ping': Cannot send after transport endpoint shutdown", "root", "storage"),
    (
        "botocore.exceptions.ClientError: An error occurred (AccessDenied) when calling the PutObject",
        "root",
        "permission",
    ),
    ("botocore.exceptions.ConnectTimeoutError: Connect timeout on endpoint URL:", "root", "remote service"),
    (
        "ray.exceptions.RayTaskError(OutOfMemoryError): ray::MegatronTrainRayActor.update_weights()",
        "root",
        "device memory",
    ),
    (
        "RuntimeError: Expected all tensors to be on the same device, but found at least two devices,",
        "root",
        "exception",
    ),
    ("srun: error: sn30-r1-h1: task 0: Exited with exit code 1", "teardown", "end of the job"),
    # argparse
    ("train.py: error: unrecognized arguments: --lr-warmup-iter 100", "root", "settings"),
    # bash
    ("bash: line 1: torchrun: command not found", "root", "software"),
    ("slurmstepd: error: execve(): python3.11: No such file or directory", "root", "software"),
    # botocore
    ("botocore.exceptions.NoCredentialsError: Unable to locate credentials", "root", "permission"),
    # composer
    ("RuntimeError: Train loss contains a NaN.", "root", "numerics"),
    # cuda
    ("RuntimeError: CUDA error: no kernel image is available for execution on the device", "root", "software"),
    # datasets
    (
        "datasets.exceptions.DatasetNotFoundError: Dataset 'foo/bar' doesn't exist on the Hub or cannot",
        "root",
        "missing file",
    ),
    ("datasets.exceptions.DatasetGenerationError: An error occurred while generating the dataset", "root", "data"),
    # deepspeed
    ("FileNotFoundError: [Errno 2] No such file or directory:", "root", "missing file"),
    ("AssertionError: Check batch related parameters. train_batch_size is not equal to", "root", "settings"),
    (
        "deepspeed.ops.op_builder.builder.CUDAMismatchException: >- DeepSpeed Op Builder: Installed CUDA",
        "root",
        "software",
    ),
    # fairseq
    ("FloatingPointError: Minimum loss scale reached (0.0001). Your loss is probably exploding.", "root", "numerics"),
    # fsspec
    ("fsspec.exceptions.FSTimeoutError", "root", "remote service"),
    # glibc
    ("ImportError: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.32' not found (required by", "root", "software"),
    # gpfs mmfs
    ("mmfs: [E] Lost membership in cluster gpu-cluster. Unmounting file systems.", "root", "storage"),
    # huggingface_hub
    ("huggingface_hub.errors.GatedRepoError: 401 Client Error. Cannot access gated repo for url", "root", "permission"),
    (
        "huggingface_hub.utils._errors.RepositoryNotFoundError: 404 Client Error. Repository Not Found",
        "root",
        "missing file",
    ),
    # hydra
    ("hydra.errors.ConfigCompositionException: Could not override 'trainer.max_stepz'.", "root", "settings"),
    # json
    ("json.decoder.JSONDecodeError: Expecting ',' delimiter: line 1 column 4096 (char 4095)", "root", "data"),
    # kernel arch/x86/mm/fault.c
    (
        "[12345.678901] python[21877]: segfault at 10 ip 00007f3c0a1b2c3d sp 00007ffd4e5f6a70 error 4 in",
        "root",
        "crash",
    ),
    # kernel i40e_main.c
    ("i40e 0000:5d:00.0 eno5: NIC Link is Down", "root", "network link"),
    # kernel mlx5_core
    ("[17532.104321] mlx5_core 0000:c1:00.0 ib0: Link down", "root", "network link"),
    # kernel mm/oom_kill.c
    ("kernel: Out of memory: Killed process 31337 (python) total-vm:412345678kB,", "root", "host memory"),
    ("[ 4211.552311] Memory cgroup out of memory: Killed process 9981 (pt_main_thread)", "root", "memory limit"),
    # kernel xfs
    ("XFS (nvme0n1): Corruption of in-memory data detected. Shutting down filesystem", "root", "storage"),
    # kubeflow
    ("PyTorchJob train-llama is failed because 1 Worker replica(s) failed.", "teardown", "end of the job"),
    # kubernetes SystemOOM
    (
        "8m42s       Warning   SystemOOM   node/node3   System OOM encountered, victim process: python,",
        "root",
        "host memory",
    ),
    # kubernetes kubelet
    (
        "Warning  BackOff  pod/trainer-0  Back-off restarting failed container trainer in pod trainer-0",
        "teardown",
        "end of the job",
    ),
    # kubernetes kubelet images
    ("Warning  Failed  pod/trainer-0  Error: ImagePullBackOff", "root", "platform"),
    # kubernetes pkg/kubelet/eviction
    (
        "Warning  Evicted  pod/trainer-0  Pod ephemeral local storage usage exceeds the total limit of",
        "root",
        "evicted",
    ),
    # kubernetes scheduler
    ("Normal  Preempted  pod/trainer-0  Preempted by pod 8d6c on node gpu-node-7", "stop", "preemption"),
    # megatron
    ("FileNotFoundError: [Errno 2] No such file or directory: '/data/gpt2-vocab.json'", "root", "missing file"),
    (
        "megatron.core.dist_checkpointing.core.CheckpointingException: Global shape mismatch for loaded",
        "root",
        "model mismatch",
    ),
    (
        "AssertionError: world size (12) is not divisible by total_model_size (encoder_model_size=0 +",
        "root",
        "settings",
    ),
    ("AssertionError: Rank 3: found NaN in local grad norm in backward pass before data-parallel", "root", "numerics"),
    ("ValueError: Unexpected result nan (message='found NaN in local forward loss calculation')", "root", "numerics"),
    # megatron rerun
    ("RuntimeError: found NaN in local forward loss calculation. Device: 3, node: n042, message", "root", "numerics"),
    # nccl
    (
        "gpu12:2231:2400 [3] init.cc:1135 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on",
        "root",
        "settings",
    ),
    ("gpu12:2231:2400 [3] init.cc:800 NCCL WARN Mismatched NCCL version detected : rank 0 version", "root", "software"),
    # nccl src/bootstrap.cc
    ("gpu12:2231:2231 [0] bootstrap.cc:80 NCCL WARN Bootstrap : no socket interface found", "root", "network plugin"),
    # nccl src/misc/socket.cc
    (
        "gpu12:2231:2400 [3] misc/socket.cc:538 NCCL WARN Net : Connection closed by remote peer",
        "propagated",
        "peer lost",
    ),
    # nccl src/transport/net_ib.cc
    ("gpu12:2231:2400 [3] NCCL WARN NET/IB : mlx5_3:1 Got async event : port error", "root", "network link"),
    # numpy
    (
        "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 128. GiB for an array with shape",
        "root",
        "host memory",
    ),
    # nvidia-smi
    ("Unable to determine the device handle for GPU0000:41:00.0: Unknown Error", "root", "accelerator"),
    # open-mpi orte
    ("mpirun noticed that process rank 5 with PID 0 on node gpu12 exited on signal 9 (Killed).", "root", "killed"),
    # pickle
    ("_pickle.UnpicklingError: invalid load key, '<'.", "root", "corrupt file"),
    ("_pickle.UnpicklingError: pickle data was truncated", "root", "corrupt file"),
    # pyarrow
    ("pyarrow.lib.ArrowInvalid: Parquet magic bytes not found in footer. Either the file is corrupted", "root", "data"),
    # pydantic
    ("pydantic_core._pydantic_core.ValidationError: 1 validation error for AxolotlInputConfig", "root", "settings"),
    # python
    ("OSError: [Errno 116] Stale file handle: '/lustre/run/ckpt/iter_0001000/model.pt'", "root", "storage"),
    ("OSError: [Errno 107] Transport endpoint is not connected: '/mnt/gcs/data'", "root", "storage"),
    ("OSError: [Errno 28] No space left on device: '/scratch/ckpt/step_1000'", "root", "disk full"),
    ("OSError: [Errno 122] Disk quota exceeded", "root", "disk full"),
    ("RuntimeError: can't start new thread", "root", "system limit"),
    ("AttributeError: 'NoneType' object has no attribute 'sizes'", "root", "exception"),
    ("ModuleNotFoundError: No module named 'flash_attn'", "root", "software"),
    (
        "ImportError: /opt/conda/lib/python3.10/site-packages/flash_attn_2_cuda.so: undefined symbol:",
        "root",
        "software",
    ),
    ("RecursionError: maximum recursion depth exceeded in comparison", "root", "exception"),
    ("PermissionError: [Errno 13] Permission denied: '/shared/ckpt/iter_100'", "root", "permission"),
    ("KeyboardInterrupt", "stop", "interrupted"),
    # pytorch
    (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total",
        "root",
        "device memory",
    ),
    (
        "RuntimeError: [enforce fail at alloc_cpu.cpp:75] err == 0. DefaultCPUAllocator: can't allocate",
        "root",
        "host memory",
    ),
    (
        "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "root",
        "device memory",
    ),
    ("RuntimeError: DataLoader worker (pid(s) 46794, 46795) exited unexpectedly", "root", "data loader"),
    ('Missing key(s) in state_dict: "module.model.norm.weight", "lm_head.weight".', "root", "model mismatch"),
    ('Unexpected key(s) in state_dict: "model.rotary_emb.inv_freq".', "root", "model mismatch"),
    ("RuntimeError: The size of tensor a (2048) must match the size of tensor b (4096) at", "root", "exception"),
    (
        "ValueError: Your setup doesn't support bf16/gpu. You need torch>=1.10, using Ampere GPU with",
        "root",
        "settings",
    ),
    # pytorch DDP
    (
        "RuntimeError: Expected to have finished reduction in the prior iteration before starting a new",
        "root",
        "exception",
    ),
    # pytorch TCPStore
    (
        "[rank7]:[W TCPStore.cpp:131] [c10d] recvValue failed on SocketImpl(fd=12, addr=[n1]:1,",
        "propagated",
        "store lost",
    ),
    (
        "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 clients",
        "root",
        "rendezvous",
    ),
    # pytorch autograd
    ("RuntimeError: one of the variables needed for gradient computation has been modified by an", "root", "exception"),
    ("RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn", "root", "exception"),
    # pytorch elastic rendezvous
    ("torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError", "root", "rendezvous"),
    # pytorch multiprocessing
    (
        "RuntimeError: Too many open files. Communication with the workers is no longer possible. Please",
        "root",
        "system limit",
    ),
    # pytorch rocm
    ("torch.OutOfMemoryError: HIP out of memory. Tried to allocate 512.00 MiB.", "root", "device memory"),
    # pytorch socket.cpp
    (
        "[E socket.cpp:922] [c10d] The server socket has failed to listen on any local network address.",
        "root",
        "port in use",
    ),
    # pytorch/aten CUDAContext
    (
        "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions",
        "root",
        "accelerator",
    ),
    # pytorch/c10/cuda/CUDAException.cpp
    ("RuntimeError: CUDA error: uncorrectable ECC error encountered", "root", "accelerator"),
    ("RuntimeError: CUDA error: unspecified launch failure", "root", "accelerator"),
    ("torch.AcceleratorError: CUDA error: device-side assert triggered", "root", "accelerator"),
    # pytorch/torch/cuda
    ("RuntimeError: No CUDA GPUs are available", "root", "accelerator"),
    (
        "RuntimeError: The NVIDIA driver on your system is too old (found version 10010). Please update",
        "root",
        "software",
    ),
    # ray train
    (
        "ray.train.base_trainer.TrainingFailedError: The Ray Train run failed. Please inspect the",
        "teardown",
        "end of the job",
    ),
    # ray-project/ray ray/memory_monitor
    ("ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.", "root", "host memory"),
    # safetensors
    (
        "safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer",
        "root",
        "corrupt file",
    ),
    ("safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge", "root", "corrupt file"),
    # sentencepiece
    ('OSError: Not found: "/models/llama/tokenizer.model": No such file or directory Error #2', "root", "missing file"),
    # slurm
    (
        "slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2024-11-21T04:00:12 DUE TO PREEMPTION ***",
        "stop",
        "preemption",
    ),
    # slurm src/api
    ("srun: error: Node failure on n042", "root", "node lost"),
    # slurm src/slurmctld/job_mgr.c
    ("[2024-03-02T05:03:19.555] Killing JobId=12307 on failed node n042", "root", "node lost"),
    # slurm src/slurmctld/node_mgr.c
    ("[2024-03-02T05:03:20.001] error: Prolog launch failure, JobId=4412", "root", "platform"),
    # slurm src/slurmctld/ping_nodes.c
    ("slurmctld: error: Nodes n042 not responding", "root", "node lost"),
    ("[2024-03-02T05:03:19.554] error: Nodes n042 not responding, setting DOWN", "root", "node lost"),
    # slurm src/srun/libsrun/allocate.c
    ("salloc: error: Node failure on n042", "root", "node lost"),
    # tensorflow
    (
        "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with",
        "root",
        "device memory",
    ),
    ("tensorflow.python.framework.errors_impl.DataLossError: corrupted record at 12345", "root", "data"),
    # torch
    ("RuntimeError: Function 'LogSoftmaxBackward0' returned nan values in its 0th output.", "root", "numerics"),
    # torch sampling
    ("RuntimeError: probability tensor contains either `inf`, `nan` or element < 0", "root", "numerics"),
    # torch_npu
    (
        "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity;",
        "root",
        "device memory",
    ),
    # torchrun
    ("torch.distributed.elastic.multiprocessing.errors.ChildFailedError:", "teardown", "end of the job"),
    (
        "WARNING:torch.distributed.elastic.multiprocessing.api:Sending process 143 closing signal SIGTERM",
        "teardown",
        "end of the job",
    ),
    (
        "torch.distributed.elastic.multiprocessing.api.SignalException: Process 3110 got signal: 15",
        "teardown",
        "end of the job",
    ),
    # transformers
    ("OSError: You are trying to access a gated repo.", "root", "permission"),
    ("OSError: /models/llama does not appear to have a file named config.json. Checkout", "root", "missing file"),
    ("OSError: Error no file named pytorch_model.bin, model.safetensors, tf_model.h5 found in", "root", "missing file"),
    ("ValueError: No valid checkpoint found in output directory (/out/run1)", "root", "missing file"),
    (
        "ImportError: accelerate>=0.21.0 is required for a normal functioning of this module, but found",
        "root",
        "software",
    ),
    # triton
    (
        "torch._inductor.exc.InductorError: RuntimeError: Failed to find C compiler. Please specify via",
        "root",
        "software",
    ),
    # wandb
    ("wandb.errors.CommError: Run initialization has timed out after 90.0 sec.", "root", "remote service"),
    # xla
    (
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to",
        "root",
        "device memory",
    ),
)


def meaning(line: str) -> Fact | None:
    """What a line means, by its template as a job has it."""
    template = parse(job({"a.log": lines(line)})).table.templates[-1]
    return fact_of(template.sample, block=template.block)


@pytest.mark.parametrize(("line", "role", "kind"), REAL)
def test_a_real_line_of_a_failure_has_its_meaning(line: str, role: str, kind: str) -> None:
    """What programs and platforms really print when they fail is known by role and kind."""
    fact = meaning(line)

    assert fact is not None
    assert ("stop" if fact.stop else fact.role.value, fact.kind) == (role, kind)
