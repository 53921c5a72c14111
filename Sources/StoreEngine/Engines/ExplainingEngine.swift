/// An engine that runs statements, and can report them.
package protocol ExplainingEngine: StoreEngine {
    /// The statement for a fetch of rows, with a placeholder for each value.
    func statement(of plan: FetchPlan) throws -> String
}
