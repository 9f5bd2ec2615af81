"""Questions that people asked in public threads, in other words; each with its thread and the seeds that answer it.

Without seeds: no seed tells its cause, though many speak of the same parts. Halves alternate, so that both have every
kind: one is for choosing a cut (``recall_asked``), the other tells how good it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublicQuestion:
    """A question. thread: where somebody asked it, ``owner/repository#number``. seeds: ids that answer it."""

    words: str
    thread: str
    seeds: tuple[str, ...] = ()


_SHM = ("dataloader-shm", "dataloader-worker-killed", "rank-sigbus")
_CUT_OFF = ("checkpoint-corrupt-zip", "checkpoint-unpickle", "checkpoint-safetensors", "checkpoint-write-failed")
_MEMORY = ("host-oom", "cgroup-oom", "k8s-oomkilled", "rank-sigkill", "ray-memory", "host-alloc-failed")
_ECC = ("gpu-ecc-uncorrectable", "xid-48", "xid-94", "xid-95", "xid-140", "xid-171-172", "xid-64")
_WAITED = ("nccl-watchdog-timeout", "nccl-remote-exited", "gloo-peer-timeout")
_RETRIES = ("nccl-ib-retry-exceeded", "hccl-cqe-retry")
_LAYOUT = ("parallel-layout-invalid", "checkpoint-parallel-layout")

PUBLIC: Sequence[PublicQuestion] = (
    PublicQuestion("xid 79 on our machine, the gpu has fallen off the bus", "leptonai/gpud#604", ("xid-79",)),
    PublicQuestion(
        "now training hangs and nvidia-smi is unable to determine the device handle, unknown error",
        "rwth-i6/returnn#1486",
        ("gpu-handle-lost", "xid-79"),
    ),
    PublicQuestion("reduce scatter not done within 30 minutes but no error from nccl", "NVIDIA/nccl#1111", _WAITED),
    PublicQuestion(
        "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1580, OpType=ALLREDUCE, Timeout(ms)=600000)",
        "hiyouga/LlamaFactory#7396",
        _WAITED,
    ),
    PublicQuestion(
        "alltoall gets stuck when the second epoch begins, then a timeout", "verl-project/verl#1158", _WAITED
    ),
    PublicQuestion("unexpected bus error in worker, maybe insufficient shm", "msr-fiddle/pipedream#28", _SHM),
    PublicQuestion(
        "docker has free memory but the DataLoader worker is killed by signal: Bus error",
        "open-mmlab/mmdetection#1997",
        _SHM,
    ),
    PublicQuestion(
        "EOFError: Ran out of input in torch.load of our checkpoint", "StrongResearch/isc-demos#3", _CUT_OFF
    ),
    PublicQuestion(
        "ran out of disk space, and resume from latest takes the broken checkpoint",
        "bghira/SimpleTuner#2613",
        (*_CUT_OFF, "disk-full"),
    ),
    PublicQuestion(
        "unexpected EOF, expected 4859355 more bytes, file might be corrupted", "yuweijiang/HGL-pytorch#2", _CUT_OFF
    ),
    PublicQuestion(
        "address already in use when I train a second model on the other four gpus",
        "openseg-group/openseg.pytorch#100",
        ("port-in-use",),
    ),
    PublicQuestion(
        "server socket has failed to bind to [::]:29400 errno 98", "pytorch/pytorch#126510", ("port-in-use",)
    ),
    PublicQuestion("with cpu offload the launcher exits with return code = -9", "deepspeedai/DeepSpeed#2918", _MEMORY),
    PublicQuestion(
        "eight processes each load the 13B model to ram first, 500 GB are too few",
        "deepspeedai/DeepSpeedExamples#498",
        _MEMORY,
    ),
    PublicQuestion("Transport retry count exceeded on mlx5_1:1/IB", "openucx/ucx#5732", _RETRIES),
    PublicQuestion("IBV_WC_RETRY_EXC_ERR after a number of iterations", "uccl-project/uccl#293", _RETRIES),
    PublicQuestion("pods Evicted: the node was low on resource: memory", "kubeflow/trainer#301", ("k8s-evicted",)),
    PublicQuestion(
        "a preempted kubernetes worker is shown as killed by SIGKILL",
        "pytorch/pytorch#92214",
        ("preempted", "rank-sigkill", "k8s-evicted"),
    ),
    PublicQuestion(
        "uncorrectable ECC error encountered after 18 epochs on 8 gpus", "NVIDIA/semantic-segmentation#33", _ECC
    ),
    PublicQuestion(
        "Failed to initialize NVML: Driver/library version mismatch after an upgrade at night",
        "lyulyul/shine-cluster#30",
        ("gpu-driver-mismatch",),
    ),
    PublicQuestion(
        "slurmstepd: STEP CANCELLED DUE TO TIME LIMIT, and it was not requeued",
        "Lightning-AI/pytorch-lightning#20542",
        ("slurm-time-limit",),
    ),
    PublicQuestion(
        "pre-training takes longer than the day that slurm allows", "AMDResearch/hpcfund#16", ("slurm-time-limit",)
    ),
    PublicQuestion(
        "Expected to have finished reduction in the prior iteration before starting a new one",
        "Wu0409/DuPL#1",
        ("ddp-unused-parameters",),
    ),
    PublicQuestion(
        "some parameters get no gradient, should I set find_unused_parameters",
        "Yuanhy1997/SeqDiffuSeq#25",
        ("ddp-unused-parameters",),
    ),
    PublicQuestion(
        "flash attention: undefined symbol since torch 2.3.1", "turboderp-org/exllamav2#522", ("undefined-symbol",)
    ),
    PublicQuestion(
        "flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so: undefined symbol: _ZN3c104cuda9SetDeviceEi",
        "Dao-AILab/flash-attention#723",
        ("undefined-symbol",),
    ),
    PublicQuestion(
        "ray.exceptions.ActorDiedError: worker unexpectedly exits with a connection error code 2",
        "langfengQ/verl-agent#52",
        ("ray-memory", "ray-node-died", *_MEMORY),
    ),
    PublicQuestion("ray actor is dead because its owner's node has crashed", "hiyouga/EasyR1#324", ("ray-node-died",)),
    PublicQuestion(
        "CUDA error: device-side assert triggered, number of classes was changed to 2",
        "xhw205/GPLinker_torch#14",
        ("cuda-device-assert",),
    ),
    PublicQuestion("index out of bounds assertion in IndexKernel.cu", "JialeCao001/SipMask#7", ("cuda-device-assert",)),
    PublicQuestion("OSError: [Errno 24] Too many open files with 4 workers", "yxgeee/FD-GAN#44", ("too-many-files",)),
    PublicQuestion(
        "dataloader does not release shared memory file handles", "pytorch/pytorch#11201", ("too-many-files",)
    ),
    PublicQuestion(
        "EI0002 The wait execution of the Notify register times out",
        "vllm-project/vllm-ascend#1443",
        ("hccl-notify-wait-timeout",),
    ),
    PublicQuestion(
        "EJ0001 Failed to initialize the HCCP process, maybe the last training process is running",
        "hiyouga/LlamaFactory#3839",
        ("hccl-process-init",),
    ),
    PublicQuestion(
        "HCCL times out getting a socket while connecting, EI0006",
        "vllm-project/afd-plugin#229",
        ("hccl-socket-timeout",),
    ),
    PublicQuestion(
        "SafetensorError: Error while deserializing header: HeaderTooLarge",
        "microsoft/OmniParser#34",
        ("checkpoint-safetensors",),
    ),
    PublicQuestion(
        "first shard of the model is smaller than it should be, MetadataIncompleteBuffer",
        "PersuGPT/PersuGPT.github.io#2",
        ("checkpoint-safetensors",),
    ),
    PublicQuestion(
        "loss scale already at minimum, cannot decrease it any more",
        "hiyouga/LlamaFactory#315",
        ("loss-scale-minimum",),
    ),
    PublicQuestion(
        "fp16 run of GPT-J stops because of the loss scaler",
        "deepspeedai/DeepSpeedExamples#531",
        ("loss-scale-minimum",),
    ),
    PublicQuestion(
        "no internet on the compute nodes, cannot connect to huggingface.co",
        "centerforaisafety/HarmBench#53",
        ("hub-unreachable",),
    ),
    PublicQuestion(
        "Gloo connectFullMesh failed, GLOO_SOCKET_IFNAME is set to bond4",
        "NVIDIA/Megatron-LM#877",
        ("gloo-connect",),
    ),
    PublicQuestion("two machines cannot talk to each other with gloo", "vllm-project/vllm#6329", ("gloo-connect",)),
    PublicQuestion(
        "CUDA driver version is insufficient for CUDA runtime version in the container",
        "NVIDIA/nvidia-docker#399",
        ("cuda-driver-too-old",),
    ),
    PublicQuestion(
        "world_size (4) is not divisible by expert_tensor_model_pipeline_parallel size (8)",
        "NVIDIA-NeMo/Speech#14838",
        _LAYOUT,
    ),
    PublicQuestion(
        "layers should be divisible by the pipeline-model-parallel size", "modelscope/ms-swift#5737", _LAYOUT
    ),
    PublicQuestion("loss jumps up after resume although the weights were restored", "kdexd/virtex#18"),
    PublicQuestion("after resume_from_checkpoint the loss is as large as at the start", "open-mmlab/mmdetection#7487"),
    PublicQuestion(
        "resuming picks epoch 30 though epoch 140 is the newest",
        "RVC-Project/Retrieval-based-Voice-Conversion-WebUI#2417",
    ),
    PublicQuestion("activation checkpointing makes throughput a hundred times lower", "Modalities/modalities#13"),
    PublicQuestion("gradient checkpointing is very slow as soon as I use several gpus", "chuanyangjin/fast-DiT#11"),
    PublicQuestion(
        "two nodes are slower than one, 10 samples per second in place of 30", "mlfoundations/open_clip#466"
    ),
    PublicQuestion("how do I find the node that computes slower than the rest", "deepspeedai/DeepSpeed#1617"),
    PublicQuestion("two H100 train no faster than one", "kohya-ss/sd-scripts#1434"),
    PublicQuestion("gpu utilization drops to zero every few seconds", "Lightning-AI/pytorch-lightning#15278"),
    PublicQuestion("wandb crashed and took the training with it", "verl-project/verl#4904"),
    PublicQuestion("dashboard says crashed but the run ended normally", "ultralytics/yolov5#3015"),
    PublicQuestion("tensorboard shows no metrics for my run", "tdrussell/diffusion-pipe#205"),
    PublicQuestion("fsdp loss is 3 to 4 times higher than with tensor parallel", "NVIDIA-NeMo/Speech#8487"),
    PublicQuestion("fsdp run does not converge, the same without fsdp does", "NVIDIA-NeMo/Megatron-Bridge#3826"),
    PublicQuestion("displayed loss is divided by the accumulation steps", "meta-llama/llama-cookbook#193"),
    PublicQuestion("vocab_size of config and len(tokenizer) differ", "facebookresearch/metaseq#469"),
    PublicQuestion("new special tokens, embedding not resized, loss shape is wrong", "hiyouga/LlamaFactory#8823"),
    PublicQuestion("jax_worker task heartbeat timeout in the coordination service", "jax-ml/jax#23599"),
    PublicQuestion("tpu dies silently after three hours", "tensorflow/tpu#590"),
    PublicQuestion("Memory access fault by GPU node-2, page not present or supervisor privilege", "ROCm/hipCaffe#11"),
    PublicQuestion(
        "validation accuracy changes with the number of gpus, samples are repeated", "pytorch/pytorch#25162"
    ),
    PublicQuestion("metric counts the padding of the distributed sampler", "roboflow/rf-detr#1507"),
    PublicQuestion(
        "after deleting one worker pod the new one never joins the training", "kubeflow/pytorch-operator#364"
    ),
    PublicQuestion(
        "memory of the process grows by one GB every epoch",
        "david8862/tf-keras-stacked-hourglass-keypoint-detection#1",
    ),
    PublicQuestion(
        "PyTorchJob with worker replicas 0 makes a worker pod all the same", "opendatahub-io/ilab-on-ocp#256"
    ),
)
# What nobody should be answered: no question about a job at all.
NONSENSE: Sequence[str] = (
    "what is for lunch in the canteen today",
    "please translate this paragraph into french",
    "the printer on the third floor is out of toner",
    "how many vacation days do I have left",
    "asdf qwer zxcv",
    "who wins the football match on saturday",
    "write me a poem about the autumn",
    "can somebody review my pull request",
    "the lift is broken again",
    "recommend a good book on statistics",
    "is the office closed on monday",
    "why is the sky blue",
)
