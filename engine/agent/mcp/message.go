package mcp

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
)

// receiveMiddleware runs before the SDK's handlers: it cancels open calls when the server closes,
// and gives the engine's errors a code.
func (s *server) receiveMiddleware(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stop := context.AfterFunc(s.ctx, cancel)
		defer stop()
		answer, err := s.handleRequest(ctx, method, req, next)
		if err != nil {
			return nil, wireError(err)
		}
		return answer, nil
	}
}

// wireError returns an error with a JSON-RPC code. The SDK's errors have one.
func wireError(err error) error {
	var coded *jsonrpc.Error
	if errors.As(err, &coded) {
		return err
	}
	e := api.AsError(err)
	answer := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: e.Message}
	switch e.Code {
	case api.CodeInvalid, api.CodeNotFound, api.CodeAmbiguous:
		answer.Code = jsonrpc.CodeInvalidParams
	}
	if e.Hint != "" {
		answer.Message += "\nhint: " + e.Hint
	}
	return answer
}
