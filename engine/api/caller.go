package api

import (
	"context"
	"net/http"
)

const (
	clientHeader  = "Tandem-Client"
	versionHeader = "Tandem-Version"
)

// A Caller is who sent a request, as it says itself.
type Caller struct {
	Name    string // ConnectOptions.Name: "dashboard", "cli", …; "" if it did not say
	Version string // its program's version
}

type callerKey struct{}

// CallerOf tells who sent the request that a handler's context belongs to.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

func withCaller(r *http.Request) context.Context {
	c := Caller{Name: r.Header.Get(clientHeader), Version: r.Header.Get(versionHeader)}
	return context.WithValue(r.Context(), callerKey{}, c)
}
