package client

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/wire"
)

func TestErrorsOfAMachineKeepTheirReasonAndHint(t *testing.T) {
	sent := api.Errorf(api.CodeInvalid, "read f: it is a folder").WithReason(api.ReasonIsFolder).WithHint("list it")
	body, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	got := wire.DecodeError("files.read", http.StatusBadRequest, body)
	if *got != *sent {
		t.Errorf("decoded: %+v", got)
	}
	want := *sent
	want.Message = "box: " + sent.Message
	if named := (&Client{machine: "box"}).nameMachine(got); *api.AsError(named) != want {
		t.Errorf("named: %+v", named)
	}
	away := api.Errorf(api.CodeUnavailable, "reach machine box").WithReason(api.ReasonMachineOffline).WithHint("wait")
	lost := (&Client{machine: "box"}).lostError(t.Context(), "files.read", away)
	if !errors.Is(lost, api.ReasonMachineOffline) || api.AsError(lost).Hint != "wait" {
		t.Errorf("lost: %+v", lost)
	}
}
