package wire

import (
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"tandem/engine/api"
)

func parseLines(s string) (r api.LineRange, err error) {
	from, count, _ := strings.Cut(s, ",")
	if r.From, err = strconv.ParseInt(from, 10, 64); err != nil {
		return r, err
	}
	n, err := strconv.ParseUint(count, 10, 31)
	r.Count = int(n)
	return r, err
}

// AttachQuery encodes o for the query of a URL.
func AttachQuery(o api.AttachOptions) string {
	q := url.Values{"id": {o.ID}}
	set := func(name, value string, given bool) {
		if given {
			q.Set(name, value)
		}
	}
	set("raw", "true", o.Raw)
	set("read_only", "true", o.ReadOnly)
	set("clips", "true", o.Clips)
	set("pictures", "true", o.Pictures)
	set("apart", "true", o.Apart)
	set("direct", "true", o.Direct)
	set("kinds", "true", o.Kinds)
	set("master", "true", o.Master)
	set("cols", strconv.Itoa(o.Cols), o.Cols != 0)
	set("rows", strconv.Itoa(o.Rows), o.Rows != 0)
	set("client", o.Client, o.Client != "")
	set("input", o.Input, o.Input != "")
	set("lines", fmt.Sprintf("%d,%d", o.Lines.From, o.Lines.Count), o.Lines.Count > 0)
	return q.Encode()
}

// ParseAttach decodes a query written by AttachQuery. newer is set if the client may be newer than
// this program. Otherwise an unknown field is an error.
func ParseAttach(q url.Values, newer bool) (api.AttachOptions, *api.Error) {
	var o api.AttachOptions
	for name, values := range q {
		var err error
		value := values[len(values)-1]
		switch name {
		case "id":
			o.ID = value
		case "client":
			o.Client = value
		case "input":
			o.Input = value
		case "raw":
			o.Raw, err = strconv.ParseBool(value)
		case "read_only":
			o.ReadOnly, err = strconv.ParseBool(value)
		case "clips":
			o.Clips, err = strconv.ParseBool(value)
		case "pictures":
			o.Pictures, err = strconv.ParseBool(value)
		case "apart":
			o.Apart, err = strconv.ParseBool(value)
		case "direct":
			o.Direct, err = strconv.ParseBool(value)
		case "pointer", "progress": // of older clients
		case "kinds":
			o.Kinds, err = strconv.ParseBool(value)
		case "master":
			o.Master, err = strconv.ParseBool(value)
		case "cols":
			o.Cols, err = parseSide(value)
		case "rows":
			o.Rows, err = parseSide(value)
		case "lines":
			o.Lines, err = parseLines(value)
		default:
			if !newer {
				return o, api.Errorf(api.CodeInvalid, "call %s: unknown field %q", AttachName, name)
			}
		}
		if err != nil {
			return o, api.Errorf(api.CodeInvalid, "call %s: field %q cannot be %q", AttachName, name, value)
		}
	}
	if strings.TrimSpace(o.ID) == "" {
		return o, api.Errorf(api.CodeInvalid, "call %s: field \"id\" is missing", AttachName)
	}
	return o, nil
}

func parseSide(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	return int(min(n, math.MaxUint16)), err
}
