import CoreDataPostgres
import PippinPostgres

/// A number that clients count up.
struct Tally: CoreModel, Equatable {
    let id: String
    var count = 0
}

/// One counting up: whose it is, and the how-manieth of theirs.
struct Step: CoreModel, Equatable {
    let id: String
    var tally: String
}

/// A name, and who has it: no two may have one.
struct Badge: CoreModel, Equatable {
    static let schema = Schema<Badge>(.unique(\.name))

    let id: String
    var name: String
}

/// What the tables of the structs must say at the end, each with a query that finds what is wrong.
enum Names {
    static let schema = "names"

    static func manager(_ connection: String, seconds patience: Int) -> (
        PersistenceManager, NSPersistentStoreDescription
    ) {
        let description = NSPersistentStoreDescription(postgreSQLConnection: connection, schema: schema)
        description.setOption(1 as NSNumber, forKey: NSPostgreSQLAnswerTimeoutOption)
        description.setOption(patience as NSNumber, forKey: NSPostgreSQLFailoverTimeoutOption)
        let manager = PersistenceManager(
            models: Tally.self, Step.self, Badge.self, store: StoreLocation(description))
        return (manager, description)
    }

    static let rules: [(name: String, sql: String)] = [
        (
            "a tally is the number of its steps",
            """
            SELECT t.id, t.count, count(s._id) FROM names.tally t LEFT JOIN names.step s ON s.tally = t.id \
            GROUP BY t._id, t.id, t.count HAVING count(s._id) <> t.count
            """
        ),
        ("no step is there twice", "SELECT id FROM names.step GROUP BY id HAVING count(*) > 1"),
        ("no step is without its tally", "SELECT id FROM names.step WHERE tally NOT IN (SELECT id FROM names.tally)"),
        ("no two have one name", "SELECT name FROM names.badge GROUP BY name HAVING count(*) > 1"),
    ]
}
