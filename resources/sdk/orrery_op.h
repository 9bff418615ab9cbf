/* Orrery: an op of one's own.

   One file of C or C++ that includes this header declares one op and is compiled by Orrery (`orrery-cli custom add
   my_op.cpp`), or any build makes a shared library of it (examples/project). A file of CUDA beside it, of the same
   name, has its kernels. Plain C99, no dependency; what is declared here stays as it is while ORRERY_OP_ABI is 1.

     #include "orrery_op.h"

     static void cpu(const orrery_call* call, int64_t begin, int64_t end) {
       const float* src = ORRERY_IN(float, call, 0);
       float* dst = ORRERY_OUT(float, call, 0);
       for (int64_t i = begin; i < end; ++i) dst[i] = src[i] + (float)ORRERY_REAL(call, 0);
     }

     ORRERY_OP("add_one", "Adds an amount to every element.", .inputs = "src f32[...]", .outputs = "dst src",
               .attributes = "amount = 1.0", .cpu = cpu)

   Inputs, outputs and attributes are declared in text:

     inputs      "src f32[..., cols], index i32|i64[rows], bias? f32[cols]"
                 name, ? where it may be left out, the types that it takes (any: every type), and its sizes: a number,
                 a name, or ... for any dims, which only comes first. A name has one size wherever it stands.
                 Without brackets: any shape.
     outputs     "dst src[..., k], rank i64[rows]"
                 The type may be the name of an input: the same as that has. A size may also be the name of a whole
                 attribute. Without brackets: the shape of the input that is named as its type.
     attributes  "amount = 1.0: what is added; k = 5; exact = true; mode = \"fast\": how"
                 name, default, and what it means. 1.0 is a real number, 1 a whole one.

   What this cannot say, a shape function says: it is called when the outputs have what is declared, and changes or
   refuses that. */
#ifndef ORRERY_OP_H
#define ORRERY_OP_H

#define ORRERY_OP_ABI 1

#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum { ORRERY_MAX_RANK = 6, ORRERY_MAX_TENSORS = 12, ORRERY_MAX_ATTRIBUTES = 16 };

/* Types of elements. f16 and bf16 are their 16 bits, a bool is a byte, 0 or 1. */
enum {
  ORRERY_F32 = 0,
  ORRERY_F16 = 1,
  ORRERY_BF16 = 2,
  ORRERY_I8 = 3,
  ORRERY_I16 = 4,
  ORRERY_I32 = 5,
  ORRERY_I64 = 6,
  ORRERY_U8 = 7,
  ORRERY_BOOL = 8
};

/* Row-major, without gaps; data is aligned to its elements. */
typedef struct orrery_tensor {
  void* data; /* null in shape functions, and of an input that was left out */
  int64_t sizes[ORRERY_MAX_RANK];
  int32_t rank;  /* 0: a single element; -1: left out */
  int32_t dtype; /* ORRERY_F32 .. */
} orrery_tensor;

/* An attribute. A number is there in both forms; true is 1. */
typedef struct orrery_value {
  double real;
  int64_t integer;
  const char* text; /* null of a number, and in kernels that Orrery launches */
} orrery_value;

/* One call. In the order in which they are declared. */
typedef struct orrery_call {
  orrery_tensor inputs[ORRERY_MAX_TENSORS];
  orrery_tensor outputs[ORRERY_MAX_TENSORS];
  orrery_value attributes[ORRERY_MAX_ATTRIBUTES];
  int64_t items; /* of the whole call */
  int32_t input_count, output_count, attribute_count;
} orrery_call;

/* What a call is shared out by. */
enum {
  ORRERY_ELEMENTS = 0, /* elements of the first output */
  ORRERY_ROWS = 1,     /* its rows: all dims but the last */
  ORRERY_COLUMNS = 2,  /* its last dim */
  ORRERY_WHOLE = 3     /* one item */
};

typedef struct orrery_op {
  uint32_t abi, bytes; /* ORRERY_OP fills them */
  const char* name;    /* small letters, digits and _ */
  const char* doc;     /* a sentence for whoever chooses among ops */
  const char *inputs, *outputs, *attributes;

  /* Changes the types and sizes of the outputs, or tells why the inputs do not fit; null: they do. The text
     must stay valid until the next call from the same thread. */
  const char* (*shape)(orrery_call* call);

  /* The CPU: computes items [begin, end). Called for several ranges at once, in any order; every range has items.
     Writes all that belongs to its items and reads no output. It cannot fail: what can go wrong is for shape to
     refuse. */
  int32_t items; /* ORRERY_ELEMENTS .. */
  void (*cpu)(const orrery_call* call, int64_t begin, int64_t end);

  /* The card. From source: the kernel `extern "C" __global__ void NAME(orrery_call call)` of the file of CUDA, with
     device pointers; cuda_block 0: a thread for each item, in blocks of 256, the last of which has threads too many
     (ORRERY_THREAD, call.items); else a block of so many threads for each item (blockIdx.x).
     A library launches its own kernels in `cuda`, on the CUstream `stream`, and does not wait for them; it returns
     what went wrong, or null. */
  int32_t cuda_block;
  const char* (*cuda)(const orrery_call* call, void* stream);

  /* Its gradients; optional. They make the op NAME_backward, whose inputs are those of the op, its outputs, and the
     gradient of each output, in the types of those, and whose outputs are the gradients of the inputs that may be f32,
     in the types of those. Items are counted of the first output of the op. The kernel is NAME_backward. */
  int32_t backward_items;
  void (*cpu_backward)(const orrery_call* call, int64_t begin, int64_t end);
  int32_t backward_cuda_block;
  const char* (*cuda_backward)(const orrery_call* call, void* stream);

  double flops;     /* for each item, for what is shown of costs */
  double tolerance; /* how far CPU and card may differ, of the largest number of an output; 0: 1e-5 for f32, 1e-2 for
                       16-bit floats, nothing for others */
  const char* trial; /* sizes to try it with where those that Orrery chooses do not fit: "rows=4, cols=9; rows=1, cols=3" */

  /* Optional: the same in the plainest loops, all items in one call. A trial and the lab hold .cpu against it, within
     the tolerance. */
  void (*reference)(const orrery_call* call);
} orrery_op;

/* What a library exports. */
#define ORRERY_OP_ENTRY "orrery_op_entry"
typedef const orrery_op* (*orrery_op_entry_function)(void);

#ifdef __cplusplus
}
#define ORRERY_EXTERN_C extern "C"
#else
#define ORRERY_EXTERN_C extern
#endif

#ifdef __CUDACC_RTC__
#define ORRERY_OP(...)
#define ORRERY_THREAD ((int64_t)blockIdx.x * blockDim.x + threadIdx.x)
#else
/* The fields stand in the order of the struct; those that are left out are zero. */
#define ORRERY_OP(NAME, DOC, ...)                                                                             \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wmissing-field-initializers\"")           \
  ORRERY_EXTERN_C __attribute__((visibility("default"))) const orrery_op* orrery_op_entry(void) {             \
    static const orrery_op op = {                                                                             \
        .abi = ORRERY_OP_ABI, .bytes = sizeof(orrery_op), .name = NAME, .doc = DOC, __VA_ARGS__};             \
    return &op;                                                                                               \
  }                                                                                                           \
  _Pragma("GCC diagnostic pop")
#endif

#define ORRERY_IN(TYPE, call, i) ((const TYPE*)(call)->inputs[i].data)
#define ORRERY_OUT(TYPE, call, i) ((TYPE*)(call)->outputs[i].data)
#define ORRERY_REAL(call, i) ((call)->attributes[i].real)
#define ORRERY_INTEGER(call, i) ((call)->attributes[i].integer)
/* The last size of a tensor. */
#define ORRERY_COLS(tensor) ((tensor).rank > 0 ? (tensor).sizes[(tensor).rank - 1] : 1)

#endif
