/// The methods of the migration manager that mapping models call by name.
package enum MigrationFunction {
    package static let destinationsOfRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    package static let destinationsOfMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    package static let sourcesOfMapping = "sourceInstancesForEntityMappingNamed:destinationInstances:"
    package static let fetchRequest = "fetchRequestForSourceEntityNamed:predicateString:"
    package static let fetchRequestWithSubentities =
        "fetchRequestForSourceEntityNamed:predicateString:includesSubentities:"
}
