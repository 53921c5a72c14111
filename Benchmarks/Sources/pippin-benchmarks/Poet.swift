import Pippin

/// A parent with children that it owns, in their order: what imports are measured with.
protocol PoetModel: CoreModel {
    associatedtype Part: PoemModel
    init(uid: String, name: String, born: Int64, poems: [Part])
}

protocol PoemModel: CoreModel {
    init(uid: String, title: String, lines: Int64, writtenAt: Date)
}

@CoreModel
struct Poet: PoetModel {
    let uid: String
    let name: String
    let born: Int64
    let poems: [Poem]

    static var schema: Schema<Poet> { Schema(.owns(\.poems)) }
}

@CoreModel
struct Poem: PoemModel {
    let uid: String
    let title: String
    let lines: Int64
    let writtenAt: Date
}

/// By coding that the compiler synthesizes.
struct CodedPoet: PoetModel {
    let uid: String
    let name: String
    let born: Int64
    let poems: [CodedPoem]

    static var schema: Schema<CodedPoet> { Schema(.owns(\.poems), name: "Poet") }
}

struct CodedPoem: PoemModel {
    let uid: String
    let title: String
    let lines: Int64
    let writtenAt: Date

    static var schema: Schema<CodedPoem> { Schema(name: "Poem") }
}

extension PoetModel {
    static var poemsEach: Int { 10 }

    /// As many values as asked for, rounded down to whole poets: each is one, and ten poems.
    static func make(values: Int) -> [Self] { (0..<values / (1 + poemsEach)).map(Self.init(number:)) }

    private init(number: Int) {
        let sample = Sample(number: number)
        self.init(
            uid: sample.uid, name: sample.title, born: Int64(1500 + number % 500),
            poems: (0..<Self.poemsEach).map { Part(number: number * Self.poemsEach + $0) })
    }

    static func manager(store: URL) throws -> PersistenceManager {
        let manager = PersistenceManager(models: Self.self, store: .file(store))
        try manager.readAndWait { _ in }
        return manager
    }
}

extension PoemModel {
    fileprivate init(number: Int) {
        let sample = Sample(number: number)
        self.init(uid: sample.uid, title: sample.title, lines: Int64(number % 90), writtenAt: sample.createdAt)
    }
}
