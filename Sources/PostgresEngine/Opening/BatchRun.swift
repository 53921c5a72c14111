import StoreEngine

/// What a batch request collects until the end of its transaction.
struct BatchRun {
    /// The changes for the store's history, and who made them.
    var history = HistoryRun()
    var origin = ChangeOrigin()
    /// The derived attributes that the batch affects; nil if there are none in the store.
    var derived: DerivedUpdate?
}
