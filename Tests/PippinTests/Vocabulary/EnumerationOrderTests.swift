import Pippin
import Testing

private enum Priority: String, Codable, CaseIterable, Comparable {
    case low, medium, high

    static func < (left: Priority, right: Priority) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}

private enum Size: Int, Codable, Comparable {
    case small = 1, large

    static func < (left: Size, right: Size) -> Bool { left.rawValue < right.rawValue }
}

private enum Rank: Int, Codable, CaseIterable, Comparable {
    case first = 1, second

    static func < (left: Rank, right: Rank) -> Bool { left.rawValue < right.rawValue }
}

/// Whose coding is its own, and which has no raw values.
private enum Level: Codable, CaseIterable, Comparable {
    case low, high

    init(from decoder: any Decoder) throws {
        self = try decoder.singleValueContainer().decode(String.self) == "high" ? .high : .low
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self == .high ? "high" : "low")
    }
}

/// Without an order.
private enum Grade: Int, Codable { case fair = 1, good }

private struct Job: CoreModel, Equatable {
    let id: Int
    var priority: Priority
    var former: Priority?
    var size = Size.small
    var rank = Rank.first
    var level = Level.low
    var grade = Grade.fair
    var highest = Priority.high
}

@Suite("Enumerations with an order of their own")
struct EnumerationOrderTests {
    private let manager: PersistenceManager
    private let jobs = [
        Job(id: 1, priority: .low, former: .high), Job(id: 2, priority: .medium),
        Job(id: 3, priority: .high, former: .low, rank: .second, level: .high, grade: .good),
    ]

    init() async throws {
        manager = PersistenceManager(models: Job.self, store: .memory)
        try await manager.save(jobs)
    }

    private func ids(_ filter: Filter<Job>) async throws -> [Int] {
        let found = try await manager.fetch(Job.self, where: filter, sortedBy: .ascending(\.id)).map(\.id)
        #expect(try jobs.filter { try filter.matches($0) }.map(\.id) == found)
        return found
    }

    @Test("are compared by it in filters")
    func filters() async throws {
        #expect(try await ids(\.priority < .high) == [1, 2])
        #expect(try await ids(\.priority <= .medium) == [1, 2])
        #expect(try await ids(\.priority > .low) == [2, 3])
        #expect(try await ids(\.priority >= .high) == [3])
        #expect(try await ids(\.former < .high) == [3])
        #expect(try await ids((Priority.low...Priority.medium).contains(\.priority)) == [1, 2])
        #expect(try await ids(.between(\.former, .medium...Priority.high)) == [1])
        #expect(try await ids(\.priority < .low) == [])
        #expect(try await ids(\.level >= .high) == [3])
    }

    @Test("are compared by it in Swift predicates")
    func swiftPredicates() async throws {
        let (low, medium, high, first) = (Priority.low, Priority.medium, Priority.high, Rank.first)
        #expect(try await ids(.matching(#Predicate { $0.priority < high })) == [1, 2])
        #expect(try await ids(.matching(#Predicate { $0.priority <= medium })) == [1, 2])
        #expect(try await ids(.matching(#Predicate { $0.priority > low })) == [2, 3])
        #expect(try await ids(.matching(#Predicate { medium < $0.priority })) == [3])
        #expect(try await ids(.matching(#Predicate { ($0.former ?? low) < high })) == [2, 3])
        #expect(try await ids(.matching(#Predicate { (low...medium).contains($0.priority) })) == [1, 2])
        let (below, through) = (low..<high, medium...high)
        #expect(try await ids(.matching(#Predicate { below.contains($0.priority) })) == [1, 2])
        #expect(try await ids(.matching(#Predicate { through.contains($0.priority) })) == [2, 3])
        #expect(try await ids(.matching(#Predicate { $0.priority < low })) == [])
        #expect(try await ids(.matching(#Predicate { !($0.priority < high) && $0.rank > first })) == [3])
        let highLevel = Level.high
        #expect(try await ids(.matching(#Predicate { $0.level >= highLevel })) == [3])
        #expect(try await ids(.matching(#Predicate { $0.level == highLevel })) == [3])
    }

    @Test("are compared by it in formats, where a case is an argument")
    func formats() async throws {
        #expect(try await ids(.format("priority < %@", Priority.high)) == [1, 2])
        #expect(try await ids(.format("%@ <= priority", Priority.medium)) == [2, 3])
        #expect(try await ids(.format("former < %@", Priority.high)) == [3])
        #expect(try await ids(.format("priority BETWEEN %@", [Priority.low, Priority.medium])) == [1, 2])
        #expect(try await ids(.format("priority BETWEEN {%@, %@}", Priority.medium, Priority.high)) == [2, 3])
        #expect(try await ids(.format("priority == %@ OR rank == %@", Priority.low, Rank.second)) == [1, 3])
        #expect(try await ids(.format("level < %@", Level.high)) == [1, 2])
        // An enumeration that is not comparable has no order but that of its raw values.
        #expect(try await ids(.format("grade >= %@", Grade.good)) == [3])
        // Texts and numbers are what the store has.
        #expect(try await ids(.format("priority < 'low'")) == [3])
        #expect(try await ids(.format("size >= 1 AND rank < 2")) == [1, 2])
    }

    @Test("have a least and a greatest value by it")
    func aggregates() async throws {
        #expect(try await manager.max(Job.self, \.rank) == .second)
        #expect(try await manager.max(Job.self, \.priority) == .high)
        #expect(try await manager.min(Job.self, \.priority) == .low)
        #expect(try await manager.min(Job.self, \.former) == .low)
        #expect(try await manager.max(Job.self, \.former, where: \.id < 3) == .high)
        #expect(try await manager.max(Job.self, \.size) == .small)
        #expect(try await manager.max(Job.self, \.level) == .high)
        #expect(try await manager.min(Job.self, \.level) == .low)
        #expect(try await manager.max(Job.self, \.priority, where: \.id > 3) == nil)
    }

    @Test("have a least and a greatest value by it in each group, a block's own changes included")
    func groupedAggregates() async throws {
        #expect(try await manager.max(Job.self, \.priority, by: \.rank) == [.first: .medium, .second: .high])
        #expect(try await manager.min(Job.self, \.priority, by: \.size) == [.small: .low])
        #expect(try await manager.min(Job.self, \.former, by: \.rank) == [.first: .high, .second: .low])
        #expect(try await manager.max(Job.self, \.rank, by: \.rank) == [.first: .first, .second: .second])
        try await manager.write { store in
            try store.save(Job(id: 1, priority: .high))
            #expect(try store.max(Job.self, \.priority) == .high)
            #expect(try store.max(Job.self, \.priority, by: \.rank) == [.first: .high, .second: .high])
            #expect(try store.min(Job.self, \.former, by: \.rank) == [.second: .low])
        }
    }

    @Test("are not compared where their cases are not known")
    func unknownCases() async throws {
        let error = await #expect(throws: PersistenceError.self) {
            try await manager.fetch(Job.self, where: \.size < .large)
        }
        #expect(error?.code == .notComparable)
        #expect(error?.localizedDescription.contains("CaseIterable") == true)
        #expect(try await ids(\.size == .small) == [1, 2, 3])
        let (large, low) = (Size.large, Priority.low)
        let others: [Filter<Job>] = [
            .matching(#Predicate { $0.size < large }), .format("size < %@", Size.large),
            .format("%@ > size", Size.large), .format("size BETWEEN %@", [Size.small, Size.large]),
            // Of two properties, neither tells which cases come before it.
            .matching(#Predicate { $0.priority < ($0.former ?? low) }),
            .matching(#Predicate { ($0.priority...$0.highest).contains($0.highest) }),
            .matching(#Predicate { (low..<$0.highest).contains($0.priority) }),
        ]
        for filter in others {
            let error = await #expect(throws: PersistenceError.self) {
                try await manager.fetch(Job.self, where: filter)
            }
            #expect(error?.code == .notComparable, "\(filter)")
        }
    }
}
