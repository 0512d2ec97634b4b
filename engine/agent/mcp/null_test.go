package mcp

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/tests/needs"
)

func TestEmptyListRepliesAreNotNull(t *testing.T) {
	t.Parallel()
	nobody := func(context.Context, string, string, *api.Bounds) (*client.Client, error) {
		return nil, api.Errorf(api.CodeUnavailable, "no engine")
	}
	for _, profile := range toolkit.Profiles() {
		for _, readOnly := range []bool{false, true} {
			k := newLineClientWith(t, toolkit.Options{CWD: "/", Profiles: []toolkit.Profile{profile}, ReadOnly: readOnly, Connect: nobody})
			k.sendLine(hello)
			k.readReply()
			for _, method := range []string{"tools/list", "prompts/list", "resources/templates/list"} {
				k.sendLine(callMessage(method, "{}"))
				answer, err := k.out.ReadString('\n')
				if err != nil || strings.Contains(answer, "null") || !strings.Contains(answer, "[") {
					t.Errorf("%s, read-only %v: %s answers %.200s, %v", profile, readOnly, method, answer, err)
				}
			}
		}
	}
}

// minimalCalls returns successful calls of every tool with the least possible content.
func minimalCalls(r *rig) map[string][]object {
	id := func(name string, of object) object { return object{name: of["session_id"]} }
	local := id("session_id", r.callObject("local_shell_session", object{"action": "start"}))
	termux := id("session_id", r.callObject("termux_shell_session", object{"action": "start"}))
	with := func(of object, more object) object {
		for name, value := range of {
			more[name] = value
		}
		return more
	}
	sessions := func(of object) []object {
		return []object{{"action": "list"}, with(of, object{"action": "exec", "command": "true"}), with(of, object{"action": "write", "input": "\n"}),
			with(of, object{"action": "read"}), with(of, object{"action": "resize"}), with(of, object{"action": "kill"}), {"action": "list"}}
	}
	if answer := r.call("process_start", object{"command": "exit", "name": "job"}); answer.Failed {
		r.Fatal(resultText(answer))
	}
	job := object{"id": "job"}
	return map[string][]object{
		"local_shell_session": sessions(local), "termux_shell_session": sessions(termux),
		"exec": {{"command": "true"}}, "process_list": {{}}, "process_get": {job}, "process_wait": {job},
		"process_log": {job, with(job, object{"grep": "x"})}, "process_start": {{"command": "exit"}},
		"session_list": {{}}, "history": {{"query": "no such thing"}}, "ls": {{}}, "find": {{"pattern": "x"}}, "grep": {{"pattern": "x"}},
		"write": {{"path": "f.json", "content": "[]"}}, "env_set": {{"key": "A", "value": ""}}, "env_get": {{"key": "HOME"}},
		"get-command-history": {{}}, "list-background-processes": {{}}, "execute-command": {{"command": []string{"true"}}},
		"termux_fs":       {{"action": "list", "path": "."}, {"action": "stat", "path": "."}, {"action": "mkdir", "path": "d"}, {"action": "delete", "path": "d"}},
		"local_run_shell": {{"command": "true"}}, "termux_run_shell": {{"command": "true"}}, "run_terminal_command": {{"command": "true"}},
		"format_terminal_output":  {{"content": "", "format_type": "table"}, {"content": "1", "format_type": "json"}, {"content": ""}},
		"start_interactive_shell": {{}, {"shell_type": "tandem"}}, "device_api": {{"action": "termux.status"}},
	}
}

func TestListsInResultsAreNotNull(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.All)
	for name, calls := range minimalCalls(r) {
		for _, args := range calls {
			answer := r.call(name, args)
			if answer.Failed {
				t.Errorf("%s %v: %s", name, args, resultText(answer))
			}
			if where := findNullList(reflect.ValueOf(answer.Structured), name); where != "" {
				t.Errorf("%s %v: %s is null", name, args, where)
			}
			if resultText(answer) == "null" {
				t.Errorf("%s %v answers null", name, args)
			}
		}
	}
}

// findNullList returns the name of the first nil list in a value, or "".
func findNullList(v reflect.Value, name string) string {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return ""
		}
		return findNullList(v.Elem(), name)
	case reflect.Slice:
		if v.IsNil() {
			return name
		}
		for i := range v.Len() {
			if where := findNullList(v.Index(i), fmt.Sprintf("%s[%d]", name, i)); where != "" {
				return where
			}
		}
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(v.Type()) {
			if !f.IsExported() || strings.Contains(f.Tag.Get("json"), "omit") || f.Tag.Get("json") == "-" {
				continue
			}
			if where := findNullList(v.FieldByIndex(f.Index), name+"."+f.Name); where != "" {
				return where
			}
		}
	}
	return ""
}
