package output

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"tandem/engine/api"
)

func TestPrintedErrorsHaveCodeReasonAndHint(t *testing.T) {
	engine := api.Errorf(api.CodeInvalid, "start x: not found").WithReason(api.ReasonProgramNotFound).WithHint("install x")
	for name, test := range map[string]struct {
		err        error
		json, text string
	}{
		"engine":  {fmt.Errorf("exec: %w", engine), `{"code":"invalid","reason":"program_not_found","message":"exec: start x: not found","hint":"install x"}`, "tandem: exec: start x: not found\nhint: install x\n"},
		"status":  {&ExitError{Status: 127, Err: engine}, `{"code":"invalid","reason":"program_not_found","message":"start x: not found","hint":"install x"}`, "tandem: start x: not found\nhint: install x\n"},
		"usage":   {UsageError("wrong", "right"), `{"code":"usage","message":"wrong","hint":"right"}`, "tandem: wrong\nhint: right\n"},
		"other":   {errors.New("broken"), `{"code":"failed","message":"broken","hint":""}`, "tandem: broken\n"},
		"printed": {&ExitError{Status: 3}, "", ""},
	} {
		var asJSON, asText bytes.Buffer
		Printer{Stderr: &asJSON, JSON: true}.Error(test.err)
		Printer{Stderr: &asText}.Error(test.err)
		if got := string(bytes.TrimSpace(asJSON.Bytes())); got != test.json || asText.String() != test.text {
			t.Errorf("%s: %s, %q", name, got, asText.String())
		}
	}
}

func TestExitStatusIsThatOfTheExitError(t *testing.T) {
	for _, err := range []error{&ExitError{Status: 7}, &ExitError{Status: 7, Err: UsageError("wrong", "")}, fmt.Errorf("x: %w", &ExitError{Status: 7})} {
		if got := ExitStatus(err); got != 7 {
			t.Errorf("%v: %d", err, got)
		}
	}
}

func TestFailedCallsPrintNoEmptyList(t *testing.T) {
	wrong := errors.New("broken")
	for name, test := range map[string]struct {
		errs []error
		want string
	}{"none": {nil, "[]\n"}, "all fail": {[]error{wrong, wrong}, ""}, "one fails": {[]error{nil, wrong}, "[\n  0\n]\n"}} {
		var stdout, stderr bytes.Buffer
		p := Printer{Stdout: &stdout, Stderr: &stderr, JSON: true}
		err := AnswerAll(p, make([]int, len(test.errs)), test.errs, func(int) string { return "" })
		if stdout.String() != test.want || (err != nil) != (test.errs != nil) {
			t.Errorf("%s: %q, %v", name, stdout.String(), err)
		}
	}
}
