// colly doing the same work: follow links of one host, extract title, links and text.
// It keeps nothing. Run as: colly_peer START_URL MAX_PAGES
package main

import (
	"fmt"
	"net/url"
	"os"
	"strconv"
	"sync/atomic"

	"github.com/gocolly/colly/v2"
)

func main() {
	start := os.Args[1]
	limit, _ := strconv.ParseInt(os.Args[2], 10, 64)
	host, _ := url.Parse(start)
	var asked, answered atomic.Int64
	var words atomic.Int64
	collector := colly.NewCollector(
		colly.AllowedDomains(host.Host, host.Hostname()),
		colly.Async(true),
	)
	collector.IgnoreRobotsTxt = false
	collector.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: 16})
	collector.OnRequest(func(request *colly.Request) {
		if asked.Add(1) > limit {
			request.Abort()
		}
	})
	collector.OnHTML("html", func(page *colly.HTMLElement) {
		answered.Add(1)
		title := page.ChildText("title")
		text := page.ChildText("body")
		words.Add(int64(len(title) + len(text)))
		page.ForEach("a[href]", func(_ int, link *colly.HTMLElement) {
			words.Add(int64(len(link.Text)))
			if asked.Load() < limit {
				link.Request.Visit(link.Attr("href"))
			}
		})
	})
	collector.Visit(start)
	collector.Wait()
	fmt.Println(answered.Load())
}
