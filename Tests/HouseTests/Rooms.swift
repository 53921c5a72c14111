/// The rooms of the larger targets, from the ground up, and the few leanings that go upward.
enum Rooms {
    static let order: [String: [String]] = [
        "CoreDataModel": [
            "Errors", "Model", "Layouts", "Fetching", "Metadata", "Transformers", "ModelFiles",
        ],
        "StoreEngine": ["Files", "Rows", "Changes", "Plans", "Engines"],
        "SQLGeneration": [
            "Values", "Fragments", "Naming", "Reconciliation", "Schema", "Queries", "Indexes", "Statements",
            "Migration",
        ],
        "SQLiteEngine": [
            "Errors", "Dialect", "Tables", "Files", "Rows", "History", "Saving", "Fetching", "Opening", "Batches",
            "Structure", "Sharing", "Engine",
        ],
        "PostgresEngine": [
            "Naming", "Errors", "Values", "Dialect", "Tables", "Rows", "History", "Saving", "Fetching", "Evaluation",
            "Opening", "Batches", "Sharing", "Engine",
        ],
        "MigrationPlans": ["Errors", "Inference", "MappingModel", "Reconciling", "Stores"],
        "SQLiteMigration": ["Lightweight", "Replacement", "Reconciling"],
        "CoreData": [
            "Undo", "Stores", "Objects", "Context", "ObjectStores", "Coordinator", "History", "Requests", "Results",
            "Migration", "BuiltInStores",
        ],
        "Pippin": [
            "Errors", "Schema", "Values", "Models", "Concurrency", "Derivation", "Decoding", "Rows", "Manager",
            "Encoding",
            "ModelBuilding", "Structs", "Queries", "Access", "Importing", "Verbs", "Aggregates", "Observing",
            "Migrating", "Lists", "Loading",
        ],
        "PippinRecords": [
            "Access", "Manager", "Lists", "Errors", "Observing", "Migrating", "Conversions", "Records", "Repositories",
            "Saving", "Fetching", "Syncing", "Operations", "Deleting",
        ],
    ]

    /// The shells of state that the rooms of a target extend, each with its concern.
    static let shells: [String: Set<String>] = [
        "Pippin": ["PersistenceManager"], "PippinRecords": ["PersistenceManager"],
        "SQLiteEngine": ["OpenStore", "SQLiteEngine"], "PostgresEngine": ["OpenDatabase", "PostgresEngine"],
    ]

    /// The files outside SQLGeneration in which parts of statements about rows stand, each with its reason.
    static let statements: [String: String] = [
        "PippinBrowse/DatabaseModel.swift": "asks for a model before there is an engine",
        "SQLiteEngine/Dialect/SQLiteDialect.swift": "says what a fragment means to SQLite",
        "SQLiteEngine/Tables/DerivedTriggers.swift": "triggers are SQLite's alone",
        "SQLiteEngine/Tables/TriggerDefinition.swift": "triggers are SQLite's alone",
    ]

    /// Leanings that go upward, by the room that leans, each with its reason: Core Data's own concepts.
    static let upward: [String: [String: String]] = [
        "CoreData/Objects": ["Context": "an object knows its context"],
        "CoreData/Context": ["Coordinator": "a context knows its coordinator"],
        "CoreData/Stores": ["Coordinator": "a store knows the coordinator that it was added to"],
        "CoreData/Coordinator": ["BuiltInStores": "a coordinator adds stores by the name of their type"],
    ]
}
