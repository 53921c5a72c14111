import Testing

/// Runs one test at a time of all that use something of which a program has one; see ``Testing/Trait/hearsEvents``.
package struct InTurnTrait: SuiteTrait, TestTrait, TestScoping {
    package let isRecursive = true

    private static let turn = Turn()

    /// Lets one task in at a time, in the order in which they came.
    private actor Turn {
        private var isTaken = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func begin() async {
            if isTaken { await withCheckedContinuation { waiting.append($0) } }
            isTaken = true
        }

        func end() { if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() } }
    }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // A suite's scope holds those of its tests.
        guard testCase != nil else { return try await function() }
        await Self.turn.begin()
        do {
            try await function()
        } catch {
            await Self.turn.end()
            throw error
        }
        await Self.turn.end()
    }
}

extension Trait where Self == InTurnTrait {
    /// For tests that receive the events of all stores of the program, which only one receiver does at a time.
    package static var hearsEvents: Self { InTurnTrait() }
}
