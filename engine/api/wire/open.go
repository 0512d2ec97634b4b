package wire

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"tandem/engine/api"
)

// These headers of the answer to engine.open describe the connected engine.
const (
	InfoVersion  = "Tandem-Engine-Version"
	InfoProtocol = "Tandem-Engine-Protocol"
	InfoOldest   = "Tandem-Engine-Oldest-Protocol"
)

// OpenQuery encodes o for the query of a URL.
func OpenQuery(o api.OpenOptions) string {
	q := url.Values{}
	for name, value := range map[string]string{"machine": o.Machine, "origin": o.Origin, "agent": o.Agent, "auth_sock": o.AuthSock} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if o.ReadOnly {
		q.Set("read_only", "true")
	}
	if o.By != nil {
		by, _ := json.Marshal(o.By) // cannot fail: only strings, numbers and booleans
		q.Set("by", string(by))
	}
	return q.Encode()
}

// ParseOpen decodes a query written by OpenQuery. It rejects unknown fields, because one may be a
// restriction.
func ParseOpen(q url.Values) (api.OpenOptions, *api.Error) {
	var o api.OpenOptions
	for name, values := range q {
		var err error
		value := values[len(values)-1]
		switch name {
		case "machine":
			o.Machine = value
		case "origin":
			o.Origin = value
		case "agent":
			o.Agent = value
		case "auth_sock":
			o.AuthSock = value
		case "read_only":
			o.ReadOnly, err = strconv.ParseBool(value)
		case "by":
			o.By = new(api.FarAgent)
			if wrong := api.DecodeInput(OpenName, []byte(value), o.By); wrong != nil {
				return o, wrong
			}
		default:
			return o, api.Errorf(api.CodeInvalid, "call %s: unknown field %q", OpenName, name)
		}
		if err != nil {
			return o, api.Errorf(api.CodeInvalid, "call %s: field %q cannot be %q", OpenName, name, value)
		}
	}
	if (o.Machine == "") == (o.Origin == "") {
		return o, api.Errorf(api.CodeInvalid, "call %s: must have either a machine or an origin", OpenName)
	}
	return o, nil
}

// SetInfo writes the version and the protocols of an engine to the headers of an answer.
func SetInfo(h http.Header, info api.Info) {
	h.Set(InfoVersion, info.Version)
	h.Set(InfoProtocol, strconv.Itoa(info.Protocol))
	h.Set(InfoOldest, strconv.Itoa(info.OldestProtocol))
}

// InfoOf reads the headers set by SetInfo.
func InfoOf(h http.Header) (info api.Info) {
	info.Version = h.Get(InfoVersion)
	info.Protocol, _ = strconv.Atoi(h.Get(InfoProtocol)) // 0 is never a valid protocol
	info.OldestProtocol, _ = strconv.Atoi(h.Get(InfoOldest))
	return info
}
