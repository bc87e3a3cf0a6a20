package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/loyalty-platform/loyalty/signing"
)

// The naive form is this service as such services are usually written: Gin, GORM with its defaults, one statement for
// each step. It has the yardstick's tables, verifies signatures as we do, and knows no rules. It runs as a process of
// its own, like the real one.

// naiveCommand, as the first argument, makes this program the naive server.
const naiveCommand = "naive"

// naiveKey is the naive server's access key; the secret comes in naiveSecret.
const (
	naiveKey    = "bench"
	naiveRegion = "bench"
	naiveSecret = "LOYALTY_BENCH_SECRET"
)

type (
	naiveCustomer struct{ ID, Balance, Score, Version int64 }
	naiveEvent    struct {
		ID, CustomerID int64
		Action, Data   string
	}
	naivePosting struct {
		ID, CustomerID, EventID, Delta int64
		Kind                           string
		BalanceAfter                   int64
	}
	naiveSubmission struct {
		Customer string          `json:"customer" binding:"required"`
		Action   string          `json:"action" binding:"required"`
		Data     json.RawMessage `json:"data" binding:"required"`
	}
	naiveBatch struct {
		Events []naiveSubmission `json:"events" binding:"required"`
	}
)

func (naiveCustomer) TableName() string { return "customers" }
func (naiveEvent) TableName() string    { return "events" }
func (naivePosting) TableName() string  { return "ledger" }

// serveNaive serves until the process is stopped.
func serveNaive(address, database string) error {
	db, err := gorm.Open(postgres.Open(database), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return err
	}

	pool, err := db.DB()
	if err != nil {
		return err
	}

	pool.SetMaxOpenConns(16)
	pool.SetMaxIdleConns(16)
	verifier, err := signing.NewVerifier(signing.Default(naiveRegion))
	if err != nil {
		return err
	}

	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}

	return http.Serve(listener, naiveHandler(db, verifier, os.Getenv(naiveSecret)))
}

func naiveHandler(db *gorm.DB, verifier *signing.Verifier, secret string) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	g := gin.New()
	g.Use(gin.Recovery(), func(c *gin.Context) {
		body, err := io.ReadAll(c.Request.Body)
		if err == nil {
			_, err = verifier.Verify(signing.FromRequest(c.Request, body), func(key string) ([]string, bool) {
				return []string{secret}, key == naiveKey
			})
		}
		if err != nil {
			c.AbortWithStatusJSON(http.StatusUnauthorized, gin.H{"error": err.Error()})
			return
		}
		c.Request.Body = io.NopCloser(bytes.NewReader(body))
	})

	g.POST("/events", func(c *gin.Context) {
		var s naiveSubmission
		if err := c.ShouldBindJSON(&s); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		naiveAnswer(c, db, []naiveSubmission{s})
	})

	g.POST("/events/bulk", func(c *gin.Context) {
		var b naiveBatch
		if err := c.ShouldBindJSON(&b); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		// Otherwise two bulks with the same customers in a different order would deadlock.
		slices.SortStableFunc(b.Events, func(x, y naiveSubmission) int { return cmp.Compare(x.Customer, y.Customer) })
		naiveAnswer(c, db, b.Events)
	})

	return g
}

// naiveAnswer records the events in one transaction.
func naiveAnswer(c *gin.Context, db *gorm.DB, submissions []naiveSubmission) {
	results := make([]gin.H, 0, len(submissions))
	err := db.WithContext(c.Request.Context()).Transaction(func(tx *gorm.DB) error {
		for _, s := range submissions {
			event, balance, err := naivePost(tx, s)
			if err != nil {
				return err
			}
			results = append(results, gin.H{"id": strconv.FormatInt(event, 10), "balance": balance})
		}
		return nil
	})
	if err != nil {
		c.JSON(http.StatusInternalServerError, gin.H{"error": err.Error()})
		return
	}

	c.JSON(http.StatusOK, gin.H{"results": results, "errors": 0})
}

// naivePost records one event in the naive way: read, insert, insert, update.
func naivePost(tx *gorm.DB, s naiveSubmission) (event, balance int64, err error) {
	var data struct{ Points int64 }
	if err := json.Unmarshal(s.Data, &data); err != nil {
		return 0, 0, err
	}
	if data.Points <= 0 {
		return 0, 0, errors.New("points must be positive")
	}

	id, err := strconv.ParseInt(s.Customer, 10, 64)
	if err != nil {
		return 0, 0, err
	}

	var customer naiveCustomer
	if err := tx.Clauses(clause.Locking{Strength: "UPDATE"}).First(&customer, id).Error; err != nil {
		return 0, 0, err
	}

	recorded := naiveEvent{CustomerID: id, Action: s.Action, Data: string(s.Data)}
	if err := tx.Create(&recorded).Error; err != nil {
		return 0, 0, err
	}

	balance = customer.Balance + data.Points
	posting := naivePosting{CustomerID: id, EventID: recorded.ID, Delta: data.Points, Kind: "earn", BalanceAfter: balance}
	if err := tx.Create(&posting).Error; err != nil {
		return 0, 0, err
	}

	err = tx.Model(&customer).Updates(map[string]any{
		"balance": balance, "score": customer.Score + data.Points, "version": customer.Version + 1,
	}).Error
	return recorded.ID, balance, err
}
