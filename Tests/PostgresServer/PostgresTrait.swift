import TestSupport
import Testing

/// Runs each test only where a server can be started, and on a thread of its own, since it waits for the server.
package struct PostgresTrait: SuiteTrait, TestTrait, TestScoping {
    package let isRecursive = true

    package func prepare(for test: Test) async throws {
        try await ConditionTrait.enabled(if: PostgresPrograms.installed != nil, "\(PostgresPrograms.reason)")
            .prepare(for: test)
    }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await OwnThreadTrait().provideScope(for: test, testCase: testCase, performing: function)
    }
}

extension Trait where Self == PostgresTrait {
    /// For tests that need a server.
    package static var needsPostgres: Self { PostgresTrait() }
}
