/// The kind of the single values in a list that is kept as JSON.
package enum ListedKind: String, Hashable, Sendable, CaseIterable {
    case boolean, integer, float, double, text, date, uuid, url
}
