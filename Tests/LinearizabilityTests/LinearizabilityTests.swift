import Linearizability
import Testing

@Suite("Histories of one object that could have happened one after the other")
struct LinearizabilityTests {
    private func isPossible(_ operations: RegisterOperation...) throws -> Bool {
        try Linearizability.order(of: operations) != nil
    }

    @Test("Nothing at all is a history")
    func empty() throws { #expect(try isPossible()) }

    @Test("What is written is read")
    func readsWrite() throws {
        #expect(
            try isPossible(RegisterOperation(.change(from: nil, to: "a"), 1, 2), RegisterOperation(.read("a"), 3, 4)))
    }

    @Test("What was written is not forgotten")
    func lostWrite() throws {
        #expect(
            try !isPossible(RegisterOperation(.change(from: nil, to: "a"), 1, 2), RegisterOperation(.read(nil), 3, 4)))
    }

    @Test("A reading while something is written may see either")
    func overlapping() throws {
        let write = RegisterOperation(.change(from: nil, to: "a"), 1, 5)
        #expect(try isPossible(write, RegisterOperation(.read(nil), 2, 3)))
        #expect(try isPossible(write, RegisterOperation(.read("a"), 2, 3)))
    }

    @Test("A reading does not go back behind an earlier one")
    func backwards() throws {
        let writes = [
            RegisterOperation(.change(from: nil, to: "a"), 1, 2), RegisterOperation(.change(from: "a", to: "b"), 3, 10),
        ]
        let forward = [RegisterOperation(.read("a"), 4, 5), RegisterOperation(.read("b"), 6, 7)]
        let backward = [RegisterOperation(.read("b"), 4, 5), RegisterOperation(.read("a"), 6, 7)]
        #expect(try Linearizability.order(of: writes + forward) != nil)
        #expect(try Linearizability.order(of: writes + backward) == nil)
    }

    @Test("Two changes cannot both start from one state")
    func splitBrain() throws {
        #expect(
            try !isPossible(
                RegisterOperation(.change(from: nil, to: "a"), 1, 2),
                RegisterOperation(.change(from: "a", to: "b"), 3, 6),
                RegisterOperation(.change(from: "a", to: "c"), 3, 6)))
    }

    @Test("A change whose result never was known may have happened, at once or much later, or not")
    func unknown() throws {
        let create = RegisterOperation(.change(from: nil, to: "a"), 1, 2)
        let unknown = RegisterOperation(.change(from: "a", to: "b"), 3, nil)
        #expect(try isPossible(create, unknown, RegisterOperation(.read("a"), 4, 5)))
        #expect(
            try isPossible(create, unknown, RegisterOperation(.read("a"), 4, 5), RegisterOperation(.read("b"), 6, 7)))
        #expect(
            try !isPossible(
                create, unknown, RegisterOperation(.read("b"), 4, 5), RegisterOperation(.read("a"), 6, 7)))
    }

    @Test("A change that happens twice is found: the state it made was left, and is there again")
    func twice() throws {
        #expect(
            try !isPossible(
                RegisterOperation(.change(from: nil, to: "a"), 1, 2),
                RegisterOperation(.change(from: "a", to: "b"), 3, 4),
                RegisterOperation(.change(from: "b", to: "c"), 5, 6), RegisterOperation(.read("b"), 7, 8)))
    }

    @Test("What is written whatever was before comes first or last of two, and what is read afterwards says which")
    func blindWrites() throws {
        let writes = [RegisterOperation(.write("a"), 1, 5), RegisterOperation(.write("b"), 2, 4)]
        for seen in ["a", "b"] {
            #expect(try Linearizability.order(of: writes + [RegisterOperation(.read(seen), 6, 7)]) != nil)
        }
        #expect(try Linearizability.order(of: writes + [RegisterOperation(.read(nil), 6, 7)]) == nil)
    }

    @Test("What was written whatever was before is not lost to a later one that did not mean it")
    func overwritten() throws {
        let past = [RegisterOperation(.write("a"), 1, 2), RegisterOperation(.write("b"), 3, 4)]
        #expect(try Linearizability.order(of: past + [RegisterOperation(.read("a"), 5, 6)]) == nil)
    }

    @Test("What was deleted is gone, until somebody makes it anew")
    func deleted() throws {
        let past = [
            RegisterOperation(.change(from: nil, to: "a"), 1, 2), RegisterOperation(.change(from: "a", to: nil), 3, 4),
        ]
        #expect(try Linearizability.order(of: past + [RegisterOperation(.read("a"), 5, 6)]) == nil)
        #expect(
            try Linearizability.order(
                of: past + [RegisterOperation(.change(from: nil, to: "b"), 5, 6), RegisterOperation(.read("b"), 7, 8)])
                != nil)
    }

    @Test("A history of thousands, with overlaps, is decided")
    func long() throws {
        var history: [RegisterOperation] = []
        for index in 0..<2000 {
            let (from, start) = (index == 0 ? nil : "\(index - 1)", UInt64(index * 10))
            history.append(RegisterOperation(.change(from: from, to: "\(index)"), start, start + 15))
            history.append(RegisterOperation(.read("\(index)"), start + 3, start + 22))
        }
        #expect(try Linearizability.order(of: history)?.count == 4000)
        history.append(RegisterOperation(.read("7"), 15_000, 15_001))
        #expect(try Linearizability.order(of: history) == nil)
    }
}
