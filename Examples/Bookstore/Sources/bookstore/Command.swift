import Foundation

/// What the arguments ask for.
enum Command {
    /// A day in the book store.
    case open(Place)
    case importReviews(from: URL, into: Place)
    /// Shows reviews as they come; with visits, a reader writes that many, and then it ends.
    case watch(Place, visits: Int?)
    /// Keeps two files in step with a server.
    case sync(Place, Place, with: Place)
    case help

    static let usage = """
        Usage:
          bookstore [STORE]                 a day in the book store: the first one stocks the shelves
          bookstore import FILE [STORE]     reviews from a file of CSV (.csv), or of JSON Lines
          bookstore watch [STORE]           the reviews, now and whenever one comes or goes, until Ctrl-C
          bookstore watch --visits N [STORE]
                                            the same, with a reader who writes N reviews meanwhile; then it ends
          bookstore sync SERVER FILE FILE   two tills, each with a file, and a server: what one sells, the other knows

        STORE is where everything is kept: a file named ….sqlite, or a PostgreSQL database, such as postgresql://localhost/bookstore;
        without it, bookstore.sqlite in this folder.

        """

    /// - Throws: ``UsageError``
    init(_ arguments: [String]) throws {
        if arguments.contains("--help") || arguments.contains("-h") || arguments.first == "help" {
            self = .help
            return
        }
        var rest = arguments[...]
        switch rest.first {
        case "import":
            guard rest.count > 1 else { throw UsageError("import needs the file to read") }
            let file = URL(fileURLWithPath: rest[1])
            self = .importReviews(from: file, into: try Self.store(rest.dropFirst(2)))
        case "watch":
            rest = rest.dropFirst()
            var visits: Int?
            if rest.first == "--visits" {
                guard let number = rest.dropFirst().first.flatMap({ Int($0) }), number > 0 else {
                    throw UsageError("--visits needs a number, from 1")
                }
                visits = number
                rest = rest.dropFirst(2)
            }
            self = .watch(try Self.store(rest), visits: visits)
        case "sync":
            guard rest.count == 4 else { throw UsageError("sync needs a server and two files") }
            self = .sync(try Place(rest[2]), try Place(rest[3]), with: try Place(rest[1]))
        default: self = .open(try Self.store(rest))
        }
    }

    /// The store that the last argument names.
    private static func store(_ arguments: ArraySlice<String>) throws -> Place {
        guard arguments.count <= 1 else { throw UsageError("“\(arguments[arguments.startIndex + 1])” is one too many") }
        return try Place(arguments.first ?? "bookstore.sqlite")
    }
}
