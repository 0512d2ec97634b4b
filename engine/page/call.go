package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"tandem/engine/api"
	"tandem/engine/page/devices"
)

// operations returns the API operations available to the page. Output and input of sessions use
// attachments instead.
func operations() []api.Entry {
	wanted := map[string]bool{}
	for _, name := range []string{
		api.EngineInfo.Name, api.SessionStart.Name, api.SessionRename.Name, api.SessionKill.Name, api.SessionScreen.Name, api.SessionRead.Name,
		api.SessionFind.Name, api.SessionText.Name, api.SessionInsert.Name, api.SessionKeyboard.Name,
		api.ProcessStart.Name, api.ProcessGet.Name, api.ProcessList.Name, api.ProcessLog.Name, api.ProcessStop.Name,
		api.ProcessRestart.Name, api.ProcessRemove.Name,
		api.HistorySearch.Name, api.OutputSearch.Name, api.RequestList.Name, api.RequestAnswer.Name,
		api.AgentSeen.Name, api.MachineList.Name, api.MachineConnect.Name, api.LayoutGet.Name,
	} {
		wanted[name] = true
	}
	var all []api.Entry
	for _, e := range api.Operations() {
		if wanted[e.Name] {
			all = append(all, e)
		}
	}
	return all
}

// isForLink reports whether an operation is available to a link to one session: only those that read
// it.
func isForLink(name string) bool {
	return name == api.SessionScreen.Name || name == api.SessionRead.Name || name == api.SessionFind.Name || name == api.SessionText.Name || name == api.ProcessGet.Name
}

// checkGrant returns an error if the device lacks permission for an operation.
func checkGrant(d devices.Device, e api.Entry, input []byte) error {
	if d.Session != "" {
		var in api.IDInput
		if err := json.Unmarshal(input, &in); err != nil || in.ID != d.Session || !isForLink(e.Name) {
			return errors.New("this link shows one session only")
		}
	}
	if d.ReadOnly && e.Effect != api.Read {
		return errors.New("this device is read-only")
	}
	return nil
}

// callOperation executes one operation.
func (p *Page) callOperation(w http.ResponseWriter, r *http.Request, d devices.Device) {
	name := r.PathValue("operation")
	var found *api.Entry
	for _, e := range operations() {
		if e.Name == name {
			found = &e
		}
	}
	if found == nil {
		writeError(w, http.StatusNotFound, fmt.Errorf("the page has no operation %q", name))
		return
	}
	var input json.RawMessage
	if err := readJSON(w, r, &input, maxBody); err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	machine := r.URL.Query().Get("host")
	// Ids are unique only within a machine.
	if machine != "" && d.Session != "" {
		writeError(w, http.StatusForbidden, errors.New("this link shows one session only"))
		return
	}
	if err := checkGrant(d, *found, input); err != nil {
		writeError(w, http.StatusForbidden, err)
		return
	}
	engine, err := p.engines.connectTo(r.Context(), machine)
	if err != nil {
		writeError(w, http.StatusBadGateway, err)
		return
	}
	var output json.RawMessage
	if err := engine.Do(r.Context(), found.Name, found.Effect, input, &output); err != nil {
		writeError(w, http.StatusUnprocessableEntity, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(output) // the browser may have disconnected
}
