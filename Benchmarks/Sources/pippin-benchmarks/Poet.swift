import Pippin

/// A parent with children that it owns, in their order: what imports are measured with.
struct Poet: CoreModel {
    let uid: String
    let name: String
    let born: Int64
    let poems: [Poem]

    static var schema: Schema<Poet> { Schema(.owns(\.poems)) }

    static let poemsEach = 10

    /// As many values as asked for, rounded down to whole poets: each is one, and ten poems.
    static func make(values: Int) -> [Poet] { (0..<values / (1 + poemsEach)).map(Poet.init) }

    private init(number: Int) {
        let sample = Sample(number: number)
        uid = sample.uid
        name = sample.title
        born = Int64(1500 + number % 500)
        poems = (0..<Self.poemsEach).map { Poem(number: number * Self.poemsEach + $0) }
    }

    static func manager(store: URL) throws -> PersistenceManager {
        let manager = PersistenceManager(models: Poet.self, store: .file(store))
        try manager.readAndWait { _ in }
        return manager
    }
}

struct Poem: CoreModel {
    let uid: String
    let title: String
    let lines: Int64
    let writtenAt: Date

    init(number: Int) {
        let sample = Sample(number: number)
        uid = sample.uid
        title = sample.title
        lines = Int64(number % 90)
        writtenAt = sample.createdAt
    }
}
