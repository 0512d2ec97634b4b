#include "textflag.h"

// func vfork(call, first, second uintptr) (result uintptr)
//
// The child goes on with the parent's stack, so the return address is kept where
// its calls do not overwrite it.
TEXT ·vfork(SB),NOSPLIT|NOFRAME,$0-32
	MOVQ	first+8(FP), DI
	MOVQ	second+16(FP), SI
	MOVQ	$0, DX
	MOVQ	$0, R10
	MOVQ	$0, R8
	MOVQ	$0, R9
	MOVQ	call+0(FP), AX
	POPQ	R12
	SYSCALL
	PUSHQ	R12
	MOVQ	AX, result+24(FP)
	RET
