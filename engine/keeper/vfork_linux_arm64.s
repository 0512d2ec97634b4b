#include "textflag.h"

// func vfork(call, first, second uintptr) (result uintptr)
//
// The child goes on with the parent's stack. The return address is in a register.
TEXT ·vfork(SB),NOSPLIT,$0-32
	MOVD	first+8(FP), R0
	MOVD	second+16(FP), R1
	MOVD	$0, R2
	MOVD	$0, R3
	MOVD	$0, R4
	MOVD	$0, R5
	MOVD	call+0(FP), R8
	SVC
	MOVD	R0, result+24(FP)
	RET
