"""Facts on lines of real failures, told in public issues: role and kind of each.

Each line stands below its source: a public issue (repository and number) or the program that prints it.
"""

import pytest

from core.facts import Fact, fact_of
from tests.core.jobs import job, lines, parse

REAL = (
    # AMDResearch/hpcfund 69
    ("salloc: Prolog failure on node k003-006", "root", "platform"),
    # Agent-RL/ReCall 54
    ("(WorkerDict pid=124799) Fatal Python error: Aborted", "root", "aborted"),
    # Ascend/pytorch 43
    ("worker-1: EH9999: Inner Error!", "root", "accelerator"),
    ("worker-1: EH9999: 2024-07-03-11:28:40.450.757  wait for compute device to finish failed,", "root", "accelerator"),
    # Ascend/pytorch 48
    (
        "EE1002: 2024-09-03-16:50:00.041.231 Stream synchronize timeout. rtDeviceSynchronize execute",
        "propagated",
        "peer silent",
    ),
    # Azure/az-hop 686
    (
        "[2021-12-14T09:52:21.414] error: _slurm_rpc_node_registration node=hb120v2-2: Invalid argument",
        "root",
        "platform",
    ),
    # EleutherAI/pythia 180
    (
        "FileNotFoundError: [Errno 2] No such file or directory: 'dataset/merged_folder/document.idx'",
        "root",
        "missing file",
    ),
    # FNNDSC/pman 200
    ("sbatch: error: Batch job submission failed: Requested node configuration is not available", "root", "settings"),
    # InternLM/xtuner 772
    (
        "RuntimeError: expected mat1 and mat2 to have the same dtype, but got: float != c10::BFloat16",
        "root",
        "exception",
    ),
    # Lightning-AI/pytorch-lightning 20542
    ("[rank: 0] Received SIGTERM: 15", "teardown", "end of the job"),
    # Lightning-AI/pytorch-lightning 20757
    (
        "gpu01:1204:1204 [0] enqueue.cc:1556 NCCL WARN Cuda failure 700 'an illegal memory access was",
        "root",
        "accelerator",
    ),
    # Lightning-AI/pytorch-lightning 688
    ("RuntimeError: unexpected EOF, expected 8 more bytes. The file might be corrupted.", "root", "corrupt file"),
    # NVIDIA-NeMo/Speech 3064
    ("AssertionError: args is already initialized", "root", "exception"),
    # NVIDIA-NeMo/Speech 5654
    ("omegaconf.errors.ConfigAttributeError: Key 'optim' is not in struct", "root", "settings"),
    # NVIDIA/Megatron-LM 119
    ("Dataset does not exist: /data/openwebtext/subset-01", "root", "missing file"),
    # NVIDIA/Megatron-LM 516
    ("traceback : Signal 7 (SIGBUS) received by PID 986", "root", "crash"),
    # NVIDIA/gpu-operator 331
    ("Reason:       OOMKilled", "root", "host memory"),
    # NVIDIA/nccl 1235
    ("ng30903:3063028:3066152 [3] include/alloc.h:178 NCCL WARN Cuda failure 'out of memory'", "root", "device memory"),
    # NVIDIA/nccl 525
    ("[3] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device", "root", "system limit"),
    # NVIDIA/nccl 925
    (
        "gpu12:2231:2400 [3] misc/ibvwrap.cc:190 NCCL WARN Call to ibv_modify_qp failed with error No",
        "root",
        "network plugin",
    ),
    # NVIDIA/nccl-tests 166
    (
        "ubuntu:9621:9688 [3] misc/shmutils.cc:112 NCCL WARN Error while creating shared memory segment",
        "root",
        "system limit",
    ),
    # ROCm/legacy-rocm-build 2804
    ("[ 5662.665041] amdgpu: qcm fence wait loop timeout expired", "root", "accelerator"),
    # ROCm/legacy-rocm-build 4021
    (
        "[500967.571516] amdgpu 0000:dd:00.0: {1}uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT)",
        "root",
        "accelerator",
    ),
    (
        "[500967.587601] amdgpu 0000:4e:00.0: {1}[Hardware Error]: Accelerator Check Architecture events",
        "root",
        "accelerator",
    ),
    ("HW Exception by GPU node-5 (Agent handle: 0x55b3e8f6ae20) reason :GPU Hang", "root", "accelerator"),
    # ROCm/rccl 59
    (
        "Memory access fault by GPU node-1 (Agent handle: 0x2a2d2f0) on address 0x7f2f4c000000. Reason:",
        "root",
        "accelerator",
    ),
    # Sachini/ronin 51
    ("RuntimeError: File my_out/checkpoints/checkpoint_0.pt cannot be opened.", "root", "disk full"),
    # Tencent-Hunyuan/Hunyuan3D-2.1 156
    ("RuntimeError: mat1 and mat2 shapes cannot be multiplied (5480x1536 and 1024x2048)", "root", "model mismatch"),
    # ai4d-iasc/trixie 35
    ("srun: error: cn125: task 0: Segmentation fault (core dumped)", "root", "crash"),
    # ai4d-iasc/trixie 45
    ("[2020-12-14T09:43:55.500] [63532.0] error: *** STEP 63532.0 ON cn106 CANCELLED AT", "stop", "cancelled"),
    # akash-network/support 244
    (
        "[Fri Aug  9 13:32:56 2024] NVRM: Xid (PCI:0000:00:08): 94, pid='<unknown>', name=<unknown>,",
        "root",
        "accelerator",
    ),
    # allenai/OLMo 550
    ("HfHubHTTPError: 429 Client Error: Too Many Requests for url:", "root", "remote service"),
    # alvinliu0/HumanGaussian 4
    (
        "huggingface_hub.utils._errors.LocalEntryNotFoundError: An error happened while trying to locate",
        "root",
        "remote service",
    ),
    # c3nl-neuraldynamics/c3nl_cluster 20
    ("/tmp/slurmd/job603995/slurm_script: line 9:  4727 Killed                  python train.py", "root", "killed"),
    # deepseek-ai/DeepEP 143
    (
        "msm-h200-2:4016:4653 [7] misc/ibvwrap.cc:190 NCCL WARN Call to ibv_create_cq failed with error",
        "root",
        "network plugin",
    ),
    # deepspeedai/DeepSpeed 1687
    ("RuntimeError: Ninja is required to load C++ extensions", "root", "software"),
    # deepspeedai/DeepSpeed 5570
    (
        "[rank1]:        size mismatch for model.layers.21.self_attn.v_proj.bias: copying a param with",
        "root",
        "model mismatch",
    ),
    # deepspeedai/DeepSpeedExamples 591
    ("RuntimeError: still have inflight params [{'id': 34, 'status': 'AVAILABLE', 'numel': 0}]", "root", "exception"),
    # derailed/k9s 174
    ("Message:            The node was low on resource: memory. Container trainer was using", "root", "evicted"),
    # facebookresearch/mmf 441
    (
        "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared",
        "root",
        "system limit",
    ),
    # fairy-stockfish/variant-nnue-pytorch 39
    ("RuntimeError: CUDA error: an illegal memory access was encountered", "root", "accelerator"),
    # google-deepmind/gemma 85
    (
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Error allocating device buffer:",
        "root",
        "device memory",
    ),
    # hiyouga/LlamaFactory 3715
    (
        "[W socket.cpp:663] [c10d] The client socket has failed to connect to [::ffff:255.255.0.0]:29500",
        "root",
        "unreachable",
    ),
    # hiyouga/LlamaFactory 5071
    (
        "EI0006: 2024-08-05-18:15:21.270.506 Getting socket times out. Reason: Remote Rank did not send",
        "propagated",
        "peer silent",
    ),
    # hiyouga/LlamaFactory 6269
    (
        "[rank0]:[E1206 18:44:12.715298746 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective",
        "propagated",
        "peer silent",
    ),
    # hkchengrex/STCN 132
    (
        "RuntimeError: DataLoader worker (pid 46794) is killed by signal: Bus error. It is possible that",
        "root",
        "data loader",
    ),
    # horovod/horovod 410
    (
        "Aborted: Horovod has been shut down. This was caused by an exception on one of the ranks or an",
        "propagated",
        "peer silent",
    ),
    ("Primary job  terminated normally, but 1 process returned", "teardown", "end of the job"),
    # horovod/horovod 429
    (
        "WARNING: One or more tensors were submitted to be reduced, gathered or broadcasted by subset of",
        "propagated",
        "peer silent",
    ),
    # hpcaitech/ColossalAI 3595
    ("ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 6 (pid:", "root", "killed"),
    # huggingface/datasets 6866
    ("datasets.exceptions.DataFilesNotFoundError: No (supported) data files found in", "root", "missing file"),
    # huggingface/transformers 28670
    ("OSError: Can't load tokenizer for './saved/'. If you were trying to load it from", "root", "missing file"),
    # jax-ml/jax 21761
    (
        "RuntimeError: Bad StatusOr access: UNKNOWN: TPU initialization failed: No ba16c7433 device",
        "root",
        "accelerator",
    ),
    # kohya-ss/sd-scripts 789
    ("RuntimeError: Error(s) in loading state_dict for UNet2DConditionModel:", "root", "model mismatch"),
    # kubernetes/kubernetes 132001
    ("Warning  Evicted  pod/trainer-0  The node was low on resource: ephemeral-storage. Threshold", "root", "evicted"),
    # langfengQ/verl-agent 52
    (
        "(raylet) node_manager.cc:3069: 1 Workers (tasks / actors) killed due to memory pressure (OOM),",
        "root",
        "host memory",
    ),
    ("ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.", "root", "killed"),
    # leptonai/gpud 1174
    ("NVRM: Xid (PCI:0000:9b:00): 94, pid=1234, name=python3, Contained ECC error", "root", "accelerator"),
    (
        "NVRM: Xid (PCI:0019:01:00): 149, NETIR Fatal XC0 i0 Link -1 (0x000fe406 0x00000000 0x00000000",
        "root",
        "accelerator",
    ),
    # leptonai/gpud 46
    (
        "[Fri Aug 30 11:43:14 2024] NVRM: Xid (PCI:0000:cb:00): 109, pid=1797828, name=pt_main_thread,",
        "root",
        "accelerator",
    ),
    # lucaslingle/transformer_vq 2
    (
        "urllib3.exceptions.MaxRetryError: HTTPSConnectionPool(host='huggingface.co', port=443): Max",
        "root",
        "remote service",
    ),
    # lyulyul/shine-cluster 166
    ("[2022-11-07T09:10:11.000] update_node: node hoth reason set to: Kill task failed", "root", "platform"),
    # lyulyul/shine-cluster 30
    ("Failed to initialize NVML: Driver/library version mismatch", "root", "software"),
    # meta-pytorch/torchforge 568
    ("RuntimeError: [enforce fail at inline_container.cc:664] . unexpected pos 704 vs 598", "root", "disk full"),
    # nebius/nebius-solutions-library 265
    ("slurmstepd: error: Prolog hung on node worker-3", "root", "platform"),
    # nextflow-io/nextflow 5932
    ("srun: error: sdumont6156: task 0: Out Of Memory", "root", "host memory"),
    # pytorch/gloo 360
    ("gloo/transport/tcp/pair.cc:135] bind: Address already in use", "root", "port in use"),
    # pytorch/pytorch 10577
    ("RuntimeError: write(): fd 29 failed with Input/output error", "root", "storage"),
    # pytorch/pytorch 12042
    ("RuntimeError: storage has wrong size: expected 2930331299881099915 got 128", "root", "corrupt file"),
    # pytorch/pytorch 15592
    ("Aborted (core dumped)", "root", "aborted"),
    # pytorch/pytorch 170244
    (
        "RuntimeError: PytorchStreamReader failed reading file .format_version: invalid header or",
        "root",
        "corrupt file",
    ),
    # pytorch/pytorch 360
    ("mpirun noticed that process rank 1 with PID 29013 on node 172.17.27.12 exited on signal 6", "root", "aborted"),
    # pytorch/pytorch 75676
    ("RuntimeError: expected scalar type BFloat16 but found Float", "root", "exception"),
    # pytorch/pytorch 81628
    (
        "NCCL WARN NET/IB : Got completion from peer 192.168.17.147<38560> with error 12, opcode 0, len",
        "root",
        "RDMA transport",
    ),
    # pytorch/torchtitan 2453
    ("RuntimeError: Missing key in checkpoint state_dict: layers.0.attention.k_norm.weight.", "root", "model mismatch"),
    # ray-project/deltacat 51
    ("botocore.exceptions.ClientError: An error occurred (SlowDown) when calling the", "root", "remote service"),
    # rocm-arch/rocm-arch 829
    (
        "[ 2679.300365] [drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx_0.0.0 timeout, signaled",
        "root",
        "accelerator",
    ),
    ("[ 2679.300601] amdgpu 0000:0c:00.0: amdgpu: GPU reset begin!", "root", "accelerator"),
    # rwth-i6/returnn 1829
    (
        "RuntimeError: [enforce fail at inline_container.cc:857] . PytorchStreamWriter failed writing",
        "root",
        "disk full",
    ),
    # sgl-project/sglang 3226
    ("RuntimeError: Gloo connectFullMesh failed with", "root", "unreachable"),
    # sillsdev/silnlp 565
    (
        "botocore.exceptions.ConnectionClosedError: Connection was closed before we received a valid",
        "root",
        "remote service",
    ),
    # tomaarsen/SpanMarkerNER 52
    (
        "MaxRetryError: HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded with",
        "root",
        "remote service",
    ),
    # trustyai-explainability/trustyai-service-operator 819
    (
        "Warning  FailedScheduling  pod/trainer-0  0/1 nodes are available: persistentvolumeclaim",
        "root",
        "not scheduled",
    ),
    # vaskar-nath/goal-conditioned-rm 2
    ("FileNotFoundError: [Errno 2] No such file or directory:", "root", "missing file"),
    # wandb/wandb 7086
    ("wandb: ERROR Run initialization has timed out after 90.0 sec.", "root", "remote service"),
    # ymcui/Chinese-LLaMA-Alpaca 534
    (
        "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.",
        "root",
        "numerics",
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
