package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
)

func TestErrorMatchesItsCodeAndReason(t *testing.T) {
	err := fmt.Errorf("read: %w", Errorf(CodeInvalid, "read f: it is a folder").WithReason(ReasonIsFolder))
	for target, want := range map[error]bool{
		CodeInvalid: true, CodeConflict: false, ReasonIsFolder: true, ReasonNotFile: false,
		Code(ReasonIsFolder): false, Reason(CodeInvalid): false,
	} {
		if errors.Is(err, target) != want {
			t.Errorf("errors.Is with %T %q is %v", target, target, !want)
		}
	}
}

func TestCopiesOfAnErrorKeepItsOtherFields(t *testing.T) {
	e := &Error{Code: CodeInvalid, Reason: ReasonIsFolder, Message: "why", Hint: "how"}
	for name, test := range map[string]struct{ got, want *Error }{
		"WithHint":    {e.WithHint("else"), &Error{Code: CodeInvalid, Reason: ReasonIsFolder, Message: "why", Hint: "else"}},
		"WithReason":  {e.WithReason(ReasonNotFile), &Error{Code: CodeInvalid, Reason: ReasonNotFile, Message: "why", Hint: "how"}},
		"WithMessage": {e.WithMessage("m1: %s", e.Message), &Error{Code: CodeInvalid, Reason: ReasonIsFolder, Message: "m1: why", Hint: "how"}},
		"AsError":     {AsError(fmt.Errorf("read: %w", e)), e},
		"Errorf":      {Errorf(CodeUnsure, "%s: %v", "x", fmt.Errorf("read: %w", e)), &Error{Code: CodeUnsure, Reason: ReasonIsFolder, Message: "x: read: why", Hint: ""}},
		"JSON":        {throughJSON(t, e), e},
	} {
		if *test.got != *test.want {
			t.Errorf("%s: %+v, want %+v", name, *test.got, *test.want)
		}
	}
	if *e != (Error{Code: CodeInvalid, Reason: ReasonIsFolder, Message: "why", Hint: "how"}) {
		t.Errorf("the original is now %+v", *e)
	}
}

func throughJSON(t *testing.T, e *Error) (back *Error) {
	text, err := json.Marshal(e)
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func TestIsEndingRecognizesEnginesOfEveryRelease(t *testing.T) {
	reworded := AsError(ErrEnding()).WithMessage("going down")
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"this release":   {ErrEnding(), true},
		"wrapped":        {fmt.Errorf("call: %w", ErrEnding()), true},
		"other text":     {reworded, true},
		"0.2.0":          {&Error{Code: CodeUnavailable, Message: "the engine is stopping", Hint: "try again in a moment"}, true},
		"other cause":    {Errorf(CodeUnavailable, "the disk is full"), false},
		"other code":     {Errorf(CodeUnsure, "%v: it may have been done", ErrEnding()), false},
		"no error of it": {errors.New("the engine is stopping"), false},
		"none":           {nil, false},
	} {
		if IsEnding(test.err) != test.want {
			t.Errorf("%s: %v", name, !test.want)
		}
	}
}
