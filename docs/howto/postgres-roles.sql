-- Roles of a crawl in PostgreSQL. Run this as crawl_owner, in the database of the crawl,
-- after: python -m opilio.cluster.schema postgresql://crawl_owner@HOST/bees
--
-- crawl_owner   makes and updates the tables; needs CREATE on the database
-- crawl_worker  works: opilio crawl --store, opilio cluster, opilio tell
-- crawl_reader  reads: opilio pull

GRANT USAGE ON SCHEMA opilio TO crawl_worker, crawl_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA opilio TO crawl_worker;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA opilio TO crawl_worker;
GRANT SELECT ON ALL TABLES IN SCHEMA opilio TO crawl_reader;

-- The same for tables of later versions.
ALTER DEFAULT PRIVILEGES IN SCHEMA opilio
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO crawl_worker;
ALTER DEFAULT PRIVILEGES IN SCHEMA opilio GRANT USAGE ON SEQUENCES TO crawl_worker;
ALTER DEFAULT PRIVILEGES IN SCHEMA opilio GRANT SELECT ON TABLES TO crawl_reader;
