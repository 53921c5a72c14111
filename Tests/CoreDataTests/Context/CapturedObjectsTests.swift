import CoreData
import Testing

/// Waits for its context as it goes, as stores of apps do to close theirs.
private final class ClosingStore: @unchecked Sendable {
    let context: NSManagedObjectContext

    init(_ context: NSManagedObjectContext) { self.context = context }

    deinit { context.performAndWait { context.userInfo["closed"] = true } }
}

@Suite("Objects that blocks capture")
struct CapturedObjectsTests {
    private let context: NSManagedObjectContext

    init() throws { context = try Library.inMemory().newBackgroundContext() }

    private func use(_ action: @Sendable (ClosingStore) async -> Void) async -> () -> Bool {
        let store = ClosingStore(context)
        await action(store)
        return { [weak store] in store == nil }
    }

    private func performLater() {
        context.perform { [store = ClosingStore(context)] in _ = store.context.hasChanges }
    }

    @Test("What the block of an async perform captured is gone when the caller lets go of it (Essential Feed)")
    func asyncPerform() async {
        for _ in 0..<200 {
            let isGone = await use { store in await store.context.perform { _ = store.context.hasChanges } }
            #expect(isGone())
        }
    }

    @Test("An object whose deinit waits for the context may go with a block (Essential Feed)")
    func deinitOnQueue() async {
        for _ in 0..<200 { performLater() }
        let isClosed = await context.perform { [context] in context.userInfo["closed"] as? Bool }
        #expect(isClosed == true)
    }
}
