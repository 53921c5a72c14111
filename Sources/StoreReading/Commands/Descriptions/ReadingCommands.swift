// What a store is, and what it has.
extension CommandManual {
    static let reading = [
        CommandDescription(
            name: "info", usage: ["STORE [--at-commit NUMBER] [--evidence FILE] [--model MODEL]", "URL"],
            summary: "what the store is, and its entities",
            text:
                "What the store is, and its entities: attributes, relationships, inheritance, how many objects. Of a store in PostgreSQL (postgresql://…), what its servers say, too.",
            options: [atCommit, evidence, model]),
        CommandDescription(
            name: "dump",
            usage: [
                "STORE|URL [--entity NAME] [--json] [--decode] [--raw] [--at-commit NUMBER] [--evidence FILE] [--model MODEL] …"
            ],
            summary: "the objects, for people or as JSON",
            text: "The objects, with their attributes and relationships.",
            options: [
                .init(
                    name: "--entity", value: "NAME",
                    text: "Only objects of this entity and of those that inherit from it."),
                .init(
                    name: "--json",
                    text:
                        "One JSON object. Its “objects” has, for the name of each entity, an array of objects: objectID (the URI), attributes by name "
                        + "(dates in ISO 8601, data in Base64), relationships as URIs. What is not there is null, or left out of a list, and named in the object's member “$marks”."
                ),
                decode, raw, dates, timezone, atCommit, evidence, model,
            ]),
        CommandDescription(
            name: "query",
            usage: [
                "STORE|URL QUERY [--format FORMAT] [--columns NAMES] [--decode] [--raw] [--model MODEL] [--in-place] …"
            ],
            summary: "the objects that a condition holds for",
            text: "The objects of an entity that a condition holds for, in an order.\nQUERY is one argument:\n"
                + "    'Book where price > 10 and author.name beginswith \"J\" order by title desc limit 20 offset 40'\n"
                + "Conditions are those of Core Data's predicates; dates and UUIDs may be written as texts. Rows are written as they are read, however many there are.\n"
                + "    'Book search whale* \"white sea\" where price < 20 limit 20'\n"
                + "finds the objects whose texts have these words, as “search” does: best first, unless an order is given.\n"
                + "    'count Book where price > 10'\n"
                + "    'Book group by author.name: count, sum(price), max(year) having count > 3 order by count desc limit 20'\n"
                + "write numbers in place of objects. Of a group's numbers there are count, sum, average, min and max; groups are those of attributes and to-one relationships, at most 100,000, "
                + "in the order of what they share unless another one is given.",
            options: [
                format,
                .init(
                    name: "--columns", value: "NAMES",
                    text: "Only these attributes and to-one relationships, of the objects and of what they lead to, "
                        + "in this order: title,author.name."),
                decode, raw, dates, timezone, verbatim, evidence, model, inPlace,
            ]),
        CommandDescription(
            name: "search",
            usage: [
                "STORE|URL TEXT [--entity NAME] [--limit NUMBER] [--format FORMAT] [--english] [--model MODEL] [--in-place]"
            ],
            summary: "the objects whose texts have some words",
            text: "The objects of all entities whose texts have what TEXT says, best first, with the places.\n"
                + "TEXT is what people type into a search field: words that must all occur, 'whal*' for the beginning of a word, '\"white whale\"' for words that follow each other, "
                + "'-moby' for what must not occur, 'OR' between alternatives; everything else is text. Case, accents and widths make no difference, and pieces of Chinese, Japanese, "
                + "Korean and Thai texts are found. All texts are read and compared; no index is made, and the store stays as it is. A TEXT that begins with “-” comes after “--”.",
            options: [
                .init(
                    name: "--entity", value: "NAME",
                    text: "Only objects of this entity and of those that inherit from it."),
                .init(name: "--limit", value: "NUMBER", text: "How many objects at most; without it, 20."),
                .init(
                    name: "--format", value: "FORMAT", text: "table, json or jsonl (JSON Lines). Without it, a table.",
                    choices: ["table", "json", "jsonl"]),
                .init(name: "--english", text: "Find English words with other endings, too: whale, whales, whaling."),
                model, inPlace,
            ]),
        CommandDescription(
            name: "sql", usage: ["STORE|URL SELECT [--format FORMAT] [--verbatim] [--model MODEL] [--in-place]"],
            summary: "the rows of a SELECT over entities",
            text:
                "Runs one SELECT in SQLite's or PostgreSQL's SQL, with the names of the model: entities are tables, attributes and to-one relationships are columns, dates are dates.\n"
                + "    'SELECT author.name, count(*) FROM Book JOIN Author author ON Book.author = author._id GROUP BY 1 ORDER BY 2 DESC'\n"
                + "“_id” is the key of an object's row, which a relationship's column holds; an element of a composite attribute is “address_city”; pairs of a relationship between "
                + "many and many are the table “Book_tags” with the columns “book” and “tags”. The tables of the database have their own names beside these. Nothing can be changed by it.",
            options: [format, verbatim, model, inPlace]),
        CommandDescription(
            name: "export",
            usage: [
                "STORE|URL ENTITY [--format FORMAT] [--output FILE] [--decode] [--raw] [--model MODEL] [--in-place] …",
                "STORE|URL --all --output FOLDER [--format FORMAT] [--decode] [--raw] [--model MODEL] [--in-place] …",
            ],
            summary: "all objects of an entity as a file",
            text:
                "All objects of an entity, and of those that inherit from it, with their attributes and to-one relationships. The dates of a column have one width. "
                + "Parquet and Arrow are not written: Debian has no C library for them; DuckDB and pandas make both from the CSV.",
            options: [
                .init(
                    name: "--all",
                    text:
                        "A file for each entity, with its own objects only: Author.csv, Book.csv …; --output names their folder."
                ),
                .init(
                    name: "--format", value: "FORMAT",
                    text: "csv, json or jsonl (JSON Lines). Without it, what FILE's extension says, or else csv.",
                    choices: ["csv", "json", "jsonl"]),
                .init(name: "--output", value: "FILE", text: "Where to write it; without it, to the standard output."),
                decode, raw, dates, timezone, verbatim, evidence, model, inPlace,
            ]),
        CommandDescription(
            name: "views", usage: ["STORE [--model MODEL]"], summary: "views for programs that read SQLite",
            text:
                "Prints a script that attaches the store and makes a view of each entity: the model's names, dates and UUIDs as texts, JSON as text, a view of the pairs of each relationship "
                + "from many to many. The views belong to the connection that runs the script; the store stays as it is.\n"
                + "    pippin views books.sqlite > views.sql; sqlite3 -init views.sql :memory: 'SELECT title FROM Book'",
            options: [model]),
    ]
}
