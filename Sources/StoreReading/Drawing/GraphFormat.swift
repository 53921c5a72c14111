/// The formats of drawings.
package enum GraphFormat: String, CaseIterable {
    case dot
    case svg
    case png
}
