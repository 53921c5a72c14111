extension NSPersistentStoreCoordinator {
    /// The position in the history after the latest transaction.
    ///
    /// - Parameter named: the stores whose history counts; `nil` for all.
    /// - Returns: `nil` if none of the stores keeps a history, or none can be read.
    func latestHistoryToken(of named: [NSPersistentStore]?) -> NSPersistentHistoryToken? {
        withLock {
            var numbers: [String: Int64] = [:]
            for store in named ?? persistentStores
            where store.engine.history != nil && persistentStores.contains(store) {
                // This function cannot throw. A store that cannot be read reports that with the next request.
                guard let number = try? store.history().latestTransaction() else { continue }
                numbers[store.identity.uuid] = number
            }
            return numbers.isEmpty ? nil : NSPersistentHistoryToken(numbers)
        }
    }
}
