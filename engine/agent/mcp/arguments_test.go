package mcp

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/agent/mcp/profiles/native"
	"tandem/engine/agent/mcp/profiles/plugin"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

func TestInvalidArgumentsAreExplained(t *testing.T) {
	t.Parallel()
	logTool := toolkit.Tool{Name: "process_log", In: reflect.TypeFor[native.ProcessLogInput]()}
	takes := "it takes: id, since, tail, grep, context, wait_ms, max_output"
	for _, tc := range []struct{ args, want string }{
		{`{}`, `argument "id" is missing`},
		{`{"id":null}`, `argument "id" is missing`},
		{`{"id":7}`, `argument "id" must be of type string, not number`},
		{`{"id":"x","colour":1}`, `unknown argument "colour"`},
		{`{"id":"x","` + strings.Repeat("y", 1000) + `":1}`, `unknown argument "` + strings.Repeat("y", 80) + `…"`},
		{`[]`, `the arguments are not a JSON object`},
		{`"id"`, `the arguments are not a JSON object`},
		{`{"id":"x"`, `the arguments are not a JSON object`},
		{`{"id":"x","max_output":[]}`, `argument "max_output" must be of type integer, not array`},
		{`{"id":"x","max_output":{}}`, `argument "max_output" must be of type integer, not object`},
		{`{"id":"x","max_output":true}`, `argument "max_output" must be of type integer, not boolean`},
		{`{"id":"x","max_output":"5"}`, `argument "max_output" must be of type integer, not string`},
		{`{"id":"x","max_output":1.5}`, `argument "max_output" must be of type integer, not number`},
		{`{"id":"x","max_output":1e30}`, `argument "max_output" must be of type integer, not number`},
		{`{"id":"x","since":99999999999999999999}`, `read cursor 99999999999999999999: must be a next_cursor or a number of bytes`},
	} {
		_, err := toolkit.Decode[native.ProcessLogInput](logTool, json.RawMessage(tc.args))
		want := &api.Error{Code: api.CodeInvalid, Message: "call process_log: " + tc.want, Hint: takes}
		if diff := cmp.Diff(want, api.AsError(err)); diff != "" {
			t.Errorf("%.60s (-want +got):\n%s", tc.args, diff)
		}
	}
}

func TestErrorNamesPartOfAnArgument(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{"command":"x","env":{"A":null,"B":{}}}`: `call process_start: argument "env.A" must be of type string, not null`,
		`{"command":"x","env":{"A":"x","B":[1]}}`: `call process_start: argument "env.B" must be of type string, not array`,
		`{"command":"x","env":["A=1"]}`:           `call process_start: argument "env" must be of type object, not array`,
		`{"command":"x","env":"A=1"}`:             `call process_start: argument "env" must be of type object, not string`,
	} {
		_, err := toolkit.Decode[plugin.StartInput](toolkit.Tool{Name: "process_start", In: reflect.TypeFor[plugin.StartInput]()}, json.RawMessage(args))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
	_, err := toolkit.Decode[plugin.EditInput](toolkit.Tool{Name: "edit", In: reflect.TypeFor[plugin.EditInput]()}, json.RawMessage(`{"path":"f","edits":["x"]}`))
	if want := `call edit: argument "edits[0]" must be of type object, not string`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestDecodeAcceptsWholeFloatsAsIntegers(t *testing.T) {
	t.Parallel()
	in, err := toolkit.Decode[native.ProcessLogInput](toolkit.Tool{Name: "process_log", In: reflect.TypeFor[native.ProcessLogInput]()},
		json.RawMessage(`{"id":"x","since":-1.0,"tail":2e1,"maxOutput":3.0}`))
	since := toolkit.Cursor{At: -1}
	if diff := cmp.Diff(native.ProcessLogInput{ID: "x", Since: &since, Tail: 20, MaxOutput: 3}, in); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestEnvAcceptsNumbersAndBooleans(t *testing.T) {
	t.Parallel()
	tool := toolkit.Tool{Name: "process_start", In: reflect.TypeFor[plugin.StartInput]()}
	in, err := toolkit.Decode[plugin.StartInput](tool, json.RawMessage(`{"command":"x","env":{"PORT":8080,"RATIO":1.50,"DEBUG":true,"S":"1"}}`))
	want := toolkit.Env{"PORT": "8080", "RATIO": "1.50", "DEBUG": "true", "S": "1"}
	if diff := cmp.Diff(want, in.Env); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if schema := string(toolkit.InputSchema(tool.In)); !strings.Contains(schema, `"env":{"type":"object"}`) {
		t.Errorf("the schema has clients refuse numbers: %s", schema)
	}
}

func TestDecodeRejectsNullInLists(t *testing.T) {
	t.Parallel()
	type lists struct {
		Command []string   `json:"command"`
		Rows    [][]string `json:"rows,omitempty"`
	}
	tool := toolkit.Tool{Name: "run", In: reflect.TypeFor[lists]()}
	for args, want := range map[string]string{
		`{"command":["echo",null]}`:          `call run: argument "command[1]" cannot be null`,
		`{"command":[],"rows":[["a",null]]}`: `call run: argument "rows[0][1]" cannot be null`,
		`{"command":[],"rows":[null]}`:       `call run: argument "rows[0]" cannot be null`,
	} {
		if _, err := toolkit.Decode[lists](tool, json.RawMessage(args)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

func TestIDIsAcceptedUnderEachAlias(t *testing.T) {
	t.Parallel()
	tool := toolkit.Tool{Name: "process_get", In: reflect.TypeFor[toolkit.IDInput]()}
	for _, args := range []string{`{"id":"x"}`, `{"processId":"x"}`, `{"process_id":"x"}`, `{"session_id":"x"}`} {
		if in, err := toolkit.Decode[toolkit.IDInput](tool, json.RawMessage(args)); err != nil || in.ID != "x" {
			t.Errorf("%s: %+v, %v", args, in, err)
		}
	}
	_, err := toolkit.Decode[toolkit.IDInput](tool, json.RawMessage(`{"id":"x","processId":"y"}`))
	if want := `call process_get: unknown argument "processId"`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
