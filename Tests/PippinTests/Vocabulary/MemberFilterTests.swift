import Pippin
import Testing

private struct Reply: CoreModel, Equatable {
    let id: Int
    var text: String
}

private struct Remark: CoreModel, Equatable {
    let id: Int
    var stars: Int
    var text: String
    var replies: [Reply] = []
}

private struct Essay: CoreModel, Equatable {
    let id: Int
    var remarks: [Remark] = []
}

@Suite("Filters of the members of a list")
struct MemberFilterTests {
    private let manager: PersistenceManager
    private let essays = [
        Essay(id: 1),
        Essay(id: 2, remarks: [Remark(id: 1, stars: 5, text: "Good"), Remark(id: 2, stars: 4, text: "góod, too")]),
        Essay(
            id: 3,
            remarks: [
                Remark(id: 3, stars: 1, text: "no", replies: [Reply(id: 1, text: "yes")]),
                Remark(id: 4, stars: 5, text: "so", replies: [Reply(id: 2, text: "so")]),
            ]),
    ]

    init() async throws {
        manager = PersistenceManager(models: Essay.self, store: .memory)
        try await manager.save(essays)
    }

    private func ids(_ filter: Filter<Essay>) async throws -> [Int] {
        let found = try await manager.fetch(Essay.self, where: filter, sortedBy: .ascending(\.id)).map(\.id)
        #expect(try essays.filter { try filter.matches($0) }.map(\.id) == found, "\(filter)")
        return found
    }

    @Test("may be Swift predicates and formats, combined with others as you like")
    func otherForms() async throws {
        #expect(try await ids(.any(\.remarks, .matching(#Predicate { $0.stars > 4 }))) == [2, 3])
        #expect(try await ids(.all(\.remarks, .format("stars > %@", 3))) == [1, 2])
        #expect(try await ids(.count(\.remarks, in: 2..., where: .format("text CONTAINS[cd] %@", "good"))) == [2])
        #expect(try await ids(.any(\.remarks, \.stars > 4 && .matching(#Predicate { $0.text == "so" }))) == [3])
        #expect(try await ids(.any(\.remarks, .any(\.replies, .format("text == 'yes'")))) == [3])
    }

    @Test("may look at the members of a member, and compare both")
    func deeper() async throws {
        let agreed = #Predicate<Remark> { remark in remark.replies.contains { $0.text == remark.text } }
        #expect(try await ids(.any(\.remarks, .matching(agreed))) == [3])
        #expect(try await ids(.all(\.remarks, .matching(agreed))) == [1])
        #expect(try await ids(.any(\.remarks, .format("replies.@count == 0"))) == [2])
    }

    @Test("are refused where they compute something over all models")
    func overAll() async throws {
        for format in ["stars == max(stars)", "stars == @max.stars"] {
            let filter = Filter<Essay>.any(\.remarks, .format(format))
            let error = await #expect(throws: PersistenceError.self) {
                try await manager.fetch(Essay.self, where: filter)
            }
            #expect(error?.code == .notComparable, "\(format)")
            let inMemory = #expect(throws: PersistenceError.self) { try filter.matches(essays[1]) }
            #expect(inMemory?.code == .notComparable, "\(format)")
        }
    }
}
