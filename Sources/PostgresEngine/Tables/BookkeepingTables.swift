/// The tables of the schema `pippin`: the stores of a database, and Pippin's bookkeeping for each.
enum BookkeepingTables {
    /// How many rows count the saves to a store.
    static let saveSlots = 32

    /// The writers that have saved, and the latest save of each: see `SaveMark`.
    static let writers = """
        CREATE TABLE IF NOT EXISTS pippin.writers (
            schema_name text NOT NULL REFERENCES pippin.stores ON DELETE CASCADE,
            writer uuid NOT NULL,
            number bigint NOT NULL,
            is_saved boolean NOT NULL,
            date timestamp with time zone NOT NULL,
            PRIMARY KEY (schema_name, writer)
        ) WITH (fillfactor = 50);
        """

    /// What changed and deleted rows were before, for stores whose history keeps that.
    static let formerValues = """
        CREATE TABLE IF NOT EXISTS pippin.former_values (
            schema_name text NOT NULL,
            transaction_id bigint NOT NULL,
            id bigint NOT NULL,
            former bytea NOT NULL,
            PRIMARY KEY (schema_name, transaction_id, id),
            FOREIGN KEY (schema_name, transaction_id) REFERENCES pippin.transactions ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED
        );
        """

    /// The full-text indexes of stores, the words of their rows, and the related rows whose texts are among these. See
    /// `SearchIndex` and `RelatedRows`.
    static let search = """
        CREATE TABLE IF NOT EXISTS pippin.searches (
            number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            schema_name text NOT NULL REFERENCES pippin.stores ON DELETE CASCADE,
            entity text NOT NULL,
            definition text NOT NULL,
            UNIQUE (schema_name, entity)
        );
        CREATE TABLE IF NOT EXISTS pippin.search (
            number integer NOT NULL REFERENCES pippin.searches ON DELETE CASCADE,
            key bigint NOT NULL,
            version bigint NOT NULL,
            is_whole boolean NOT NULL,
            words tsvector,
            PRIMARY KEY (number, key)
        );
        CREATE TABLE IF NOT EXISTS pippin.search_related (
            number integer NOT NULL,
            place integer NOT NULL,
            key bigint NOT NULL,
            version bigint NOT NULL,
            PRIMARY KEY (number, place, key)
        );
        CREATE TABLE IF NOT EXISTS pippin.search_pairs (
            number integer NOT NULL,
            place integer NOT NULL,
            key bigint NOT NULL,
            owner bigint NOT NULL,
            PRIMARY KEY (number, place, key, owner)
        );
        CREATE INDEX IF NOT EXISTS search_pairs_owner ON pippin.search_pairs (number, place, owner);
        CREATE INDEX IF NOT EXISTS search_words ON pippin.search USING gin (words);
        CREATE INDEX IF NOT EXISTS search_parts ON pippin.search (number) WHERE NOT is_whole;
        """

    /// Notes beside the rows.
    static let notes = """
        CREATE TABLE IF NOT EXISTS pippin.notes (
            schema_name text NOT NULL REFERENCES pippin.stores ON DELETE CASCADE,
            name text COLLATE "C" NOT NULL,
            note bytea NOT NULL,
            PRIMARY KEY (schema_name, name)
        );
        """

    static let creation = """
        CREATE SCHEMA IF NOT EXISTS pippin;
        COMMENT ON SCHEMA pippin IS 'What Pippin knows of the stores in this database';
        CREATE TABLE IF NOT EXISTS pippin.stores (
            schema_name text PRIMARY KEY,
            uuid text NOT NULL,
            format bigint NOT NULL,
            metadata bytea NOT NULL,
            model bytea,
            keeps_history boolean NOT NULL DEFAULT false,
            latest bigint NOT NULL DEFAULT 0,
            latest_change bigint NOT NULL DEFAULT 0,
            generation bigint NOT NULL DEFAULT floor(random() * 1e15)
        );
        CREATE TABLE IF NOT EXISTS pippin.saves (
            schema_name text NOT NULL REFERENCES pippin.stores ON DELETE CASCADE,
            slot smallint NOT NULL,
            count bigint NOT NULL DEFAULT 0,
            PRIMARY KEY (schema_name, slot)
        ) WITH (fillfactor = 25);
        CREATE TABLE IF NOT EXISTS pippin.entities (
            schema_name text NOT NULL REFERENCES pippin.stores ON DELETE CASCADE,
            number integer NOT NULL,
            name text NOT NULL,
            parent text,
            table_name text NOT NULL,
            PRIMARY KEY (schema_name, number),
            UNIQUE (schema_name, name)
        );
        CREATE TABLE IF NOT EXISTS pippin.tables (
            schema_name text NOT NULL REFERENCES pippin.stores ON DELETE CASCADE,
            table_name text NOT NULL,
            PRIMARY KEY (schema_name, table_name)
        );
        CREATE TABLE IF NOT EXISTS pippin.transactions (
            schema_name text NOT NULL REFERENCES pippin.stores ON DELETE CASCADE,
            id bigint NOT NULL,
            date timestamp with time zone NOT NULL,
            author text,
            context_name text,
            bundle_id text,
            process_id text,
            PRIMARY KEY (schema_name, id)
        );
        CREATE TABLE IF NOT EXISTS pippin.changes (
            schema_name text NOT NULL,
            transaction_id bigint NOT NULL,
            id bigint NOT NULL,
            kind smallint NOT NULL,
            entity integer NOT NULL,
            key bigint NOT NULL,
            columns bytea,
            tombstone bytea,
            PRIMARY KEY (schema_name, transaction_id, id),
            FOREIGN KEY (schema_name, transaction_id) REFERENCES pippin.transactions ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
        );
        """ + writers
}
