//go:build tools

package tools

import (
	_ "github.com/EscherAuth/escher/signer"
	_ "github.com/alicebob/miniredis/v2"
	_ "github.com/expr-lang/expr"
	_ "github.com/getkin/kin-openapi/openapi3filter"
	_ "github.com/gin-gonic/gin"
	_ "github.com/go-redis/redis_rate/v10"
	_ "github.com/google/uuid"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/maypok86/otter/v2"
	_ "github.com/nicksnyder/go-i18n/v2/i18n"
	_ "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen"
	_ "github.com/oapi-codegen/runtime"
	_ "github.com/pressly/goose/v3"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "github.com/redis/go-redis/v9"
	_ "github.com/shopspring/decimal"
	_ "github.com/spf13/cobra"
	_ "github.com/stretchr/testify/require"
	_ "go.uber.org/goleak"
	_ "golang.org/x/text/language"
	_ "gorm.io/driver/postgres"
	_ "gorm.io/driver/sqlite"
	_ "gorm.io/gorm"
	_ "modernc.org/sqlite"
	_ "pgregory.net/rapid"
)
