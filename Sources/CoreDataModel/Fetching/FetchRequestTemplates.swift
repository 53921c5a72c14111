import Foundation

extension NSManagedObjectModel {
    /// The fetch request templates by name.
    public var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] {
        templates.compactMapValues { $0 as? NSFetchRequest<any NSFetchRequestResult> }
    }

    /// Adds or replaces a fetch request template; `nil` removes it.
    ///
    /// - Parameters:
    ///   - fetchRequestTemplate: the request, whose predicate may have `$VARIABLES`.
    ///   - name: the template's name.
    public func setFetchRequestTemplate(
        _ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String
    ) {
        willChangeModel()
        templates[name] = fetchRequestTemplate
    }

    /// The fetch request template with a name, to run or to copy.
    ///
    /// - Parameter name: the name of the template.
    /// - Returns: the template; `nil` if the model has none of that name.
    public func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
        templates[name] as? NSFetchRequest<any NSFetchRequestResult>
    }

    /// A copy of a fetch request template with values in place of its variables.
    ///
    /// ```swift
    /// let request = model.fetchRequestFromTemplate(withName: "After", substitutionVariables: ["YEAR": 1990])
    /// ```
    ///
    /// - Parameters:
    ///   - name: the name of the template.
    ///   - variables: a value for each variable; `NSNull` stands for nil.
    /// - Returns: the request; `nil` for a name that the model does not have.
    public func fetchRequestFromTemplate(
        withName name: String, substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        guard let template = fetchRequestTemplate(forName: name),
            let request = template.copy() as? NSFetchRequest<any NSFetchRequestResult>
        else { return nil }
        request.predicate = template.predicate?.withSubstitutionVariables(variables)
        return request
    }
}
