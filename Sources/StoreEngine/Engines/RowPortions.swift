/// Rows that are read in portions. Rows that others write meanwhile are not included.
package protocol RowPortions: AnyObject {
    /// The next rows; empty at the end.
    func next(_ count: Int) throws -> ContiguousArray<Row>
}
