/// The folders (rooms) of the larger targets, from the ground up, and the few dependencies that go upward.
enum Rooms {
    static let order: [String: [String]] = [
        "ModelFiles": [
            "KeyedArchives", "Errors", "Descriptions", "Documents", "Source", "Archives", "Versions", "Packages",
            "StoreDocuments", "Mappings",
        ],
        "CoreDataModel": [
            "Errors", "Model", "Layouts", "Fetching", "Metadata", "Transformers", "ModelFiles",
        ],
        "StoreEngine": ["Files", "Rows", "Changes", "Plans", "Engines"],
        "SQLGeneration": [
            "Values", "Fragments", "Naming", "Reconciliation", "Schema", "Queries", "Indexes", "Statements",
            "Migration",
        ],
        "SQLiteEngine": [
            "Errors", "Dialect", "Tables", "Files", "Rows", "History", "Saving", "Searching", "Fetching",
            "Opening", "Batches", "Structure", "Sharing", "Engine", "Migration",
        ],
        "PostgresEngine": [
            "Metrics", "Naming", "Failover", "Errors", "Servers", "Values", "Dialect", "Tables", "Rows",
            "Searching", "History", "Saving", "Fetching", "Evaluation", "Opening", "Standbys", "Batches", "Sharing",
            "Engine", "Migration",
        ],
        "MigrationPlans": ["Errors", "Inference", "MappingModel", "Reconciling", "Stores"],
        "StoreSession": ["Queues", "Stores", "Session"],
        "CoreData": [
            "Queues", "Undo", "Stores", "Objects", "Context", "ObjectStores", "Coordinator", "History", "Requests",
            "Results", "Migration", "BuiltInStores",
        ],
        "SwiftData": [
            "Errors", "Identifiers", "Values", "Schema", "Models", "Fetching", "History", "Migrating", "Stores",
            "Contexts", "Containers", "Actors", "Observers", "Macros",
        ],
        "Pippin": [
            "Concurrency", "Errors", "Schema", "Values", "Columns", "Models", "Derivation", "Decoding", "Rows",
            "LiveQueries", "Manager",
            "Encoding",
            "ModelBuilding", "Structs", "Queries", "Access", "Importing", "Aggregates", "SQL", "Searching", "History",
            "Verbs",
            "FollowedLists", "Observing",
            "Migrating", "Lists", "Loading",
        ],
        "PippinRecords": [
            "Errors", "Conversions", "Records", "Manager", "Access", "Lists", "Observing", "Migrating", "Repositories",
            "Saving", "Fetching", "Syncing", "Operations", "Deleting",
        ],
        "StoreReading": [
            "DatabaseFiles", "Text", "Output", "Records", "Opening", "Checking", "Describing", "Rendering",
            "Recovering", "Timelines", "Querying", "Drawing", "Commands",
        ],
        "StoreBrowser": [
            "Assets", "Values", "Changing", "Session", "Requests", "Exporting", "Pages", "Editing", "Reporting",
            "Routing",
        ],
    ]

    /// The shells of state that the folders of a target extend, each with its concern. What a shell declares itself is
    /// for all of them; what an extension declares belongs to its folder.
    static let shells: [String: Set<String>] = [
        "Pippin": ["PersistenceManager"], "PippinRecords": ["PersistenceManager"],
        "SQLiteEngine": ["OpenStore", "SQLiteEngine"], "PostgresEngine": ["OpenDatabase", "PostgresEngine"],
    ]

    /// The files outside SQLGeneration in which parts of statements about rows stand, each with its reason.
    static let statements: [String: String] = [
        "SQLiteEngine/Dialect/SQLiteDialect.swift": "says what a fragment means to SQLite",
        "SQLiteEngine/Tables/DerivedTriggers.swift": "triggers are SQLite's alone",
        "SQLiteEngine/Tables/TriggerDefinition.swift": "triggers are SQLite's alone",
        "PostgresEngine/Sharing/Presence.swift": "triggers are printed for a person to run",
        "SQLiteEngine/Opening/StoreFiles+Replacing.swift":
            "names of files are changed in a copy, in columns that no model is needed for",
        "StoreReading/Querying/StoreSQL.swift": "a statement that a person writes gets its entities as selections",
        "StoreReading/Commands/Descriptions/ReadingCommands.swift": "the manual shows a statement that a person writes",
        "SQLiteEngine/Searching/SearchIndex.swift": "FTS5 is SQLite's alone, and the index is this engine's own",
        "SQLiteEngine/Searching/SearchIndex+Related.swift":
            "FTS5 is SQLite's alone, and the index is this engine's own",
        "SQLiteEngine/Opening/StoreSearching.swift": "which rows of the index wait is this engine's own",
        "StoreReading/Recovering/FoundText.swift": "the tables of what was found are made for it",
        "StoreReading/Querying/QueryText.swift": "recognizes SQL that was typed in place of a query, and quotes it",
        "StoreReading/Describing/ViewScript.swift": "views are printed for other programs, and never run here",
        "PostgresEngine/Dialect/PostgresDialect.swift": "says what a fragment means to PostgreSQL",
        "PostgresEngine/Batches/BatchDeleting.swift": "keys are collected in temporary tables, sets of them are arrays",
        "PostgresEngine/Batches/BatchInserting.swift":
            "COPY, and rows that meet others, each in a statement of its own",
        "PostgresEngine/Batches/BatchTransactions.swift": "sets of keys are arrays",
        "PostgresEngine/Rows/EntityAccess.swift": "destinations are found for a set of objects, as an array",
        "PostgresEngine/Failover/SaveMark.swift": "marks of saves are this engine's own",
        "PostgresEngine/History/HistoryWriting.swift": "the history is written as arrays, into tables of this engine's",
        "PostgresEngine/Opening/StoreDuplicate.swift": "rows go from one server to another by COPY",
        "PostgresEngine/Saving/ConstraintCheck.swift": "values are looked for as arrays",
        "PostgresEngine/Saving/DerivedUpdate.swift": "values that are made here come back as arrays",
        "PostgresEngine/Tables/DerivedColumn.swift": "columns are set from the values that a statement finds",
        "PostgresEngine/Saving/KeyProviding.swift": "sequences are PostgreSQL's alone",
        "StoreBrowser/Pages/SearchPage.swift": "a page for a statement that a person writes shows an example",
        "PostgresEngine/Searching/SearchIndex.swift": "words are PostgreSQL's, and the index is this engine's own",
        "PostgresEngine/Searching/SearchIndex+Related.swift": "the related rows of the index are this engine's own",
        "PostgresEngine/Opening/SearchIndexMaking.swift": "the index is this engine's own",
        "PostgresEngine/Saving/StoreStamp.swift": "what each save begins with is this engine's own",
        "PostgresEngine/Saving/LongTransactions.swift": "rows that share values are found with one statement",
        "PostgresEngine/Rows/RowStatements.swift":
            "rows of one kind are written with one statement, as arrays, or by COPY",
        "PostgresEngine/Servers/ServerReport.swift": "what servers say of connections is PostgreSQL's alone",
        "PostgresEngine/Tables/MetadataWriting.swift": "metadata and notes are in tables of the schema pippin",
        "PostgresEngine/Tables/TableCreation.swift": "references are PostgreSQL's alone",
        "PostgresEngine/Migration/Lightweight/DatabaseMigration.swift":
            "tables are altered; rows move by SQLGeneration's statements",
        "PostgresEngine/Migration/Lightweight/DatabaseMigrator.swift": "references that lead nowhere are cleared",
        "PostgresEngine/Migration/Values/PostgresColumns.swift":
            "the parts of JSON are searched with PostgreSQL's functions",
        "PostgresEngine/Migration/Reconciling/DatabaseReconciliation.swift":
            "values come as texts, around SQLGeneration's statement",
    ]

    /// Dependencies that go upward, by the folder that depends on another, each with its reason: Core Data's own
    /// concepts, and PostgreSQL's connections.
    static let upward: [String: [String: String]] = [
        "CoreData/Objects": ["Context": "an object knows its context"],
        "CoreData/Context": ["Coordinator": "a context knows its coordinator"],
        "CoreData/Stores": [
            "Coordinator": "a store knows the coordinator that it was added to",
            "Migration": "a class of stores names its manager, which subclasses override",
        ],
        "CoreData/Coordinator": [
            "BuiltInStores": "a coordinator adds stores by the name of their type",
            "History": "a coordinator's position in the history can be overridden",
        ],
        "SwiftData/Models": ["Contexts": "a model knows its context"],
        "SwiftData/Migrating": ["Contexts": "the code of a step gets a context"],
        "SwiftData/Contexts": ["Containers": "a context knows its container"],
        "PostgresEngine/Saving": [
            "Opening": "a save whose server is lost makes a new connection",
            "Sharing": "a save notifies the programs that share the store",
        ],
        "PostgresEngine/Fetching": [
            "Evaluation": "conditions that SQL does not express exactly are evaluated on the fetched rows"
        ],
        "PostgresEngine/Batches": ["Sharing": "a batch notifies the programs that share the store"],
    ]
}
